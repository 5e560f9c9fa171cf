import { Button, Group } from '@mantine/core';

interface FormActionsProps {
  readonly submitLabel: string;
  readonly loading: boolean;
  readonly onCancel: () => void;
}

/** The buttons at the end of a form in a dialog. */
export function FormActions({ submitLabel, loading, onCancel }: FormActionsProps) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={loading}>
        {submitLabel}
      </Button>
    </Group>
  );
}
