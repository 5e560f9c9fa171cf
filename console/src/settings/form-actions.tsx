import { Button, Group } from '@mantine/core';
import { Failure } from '../app/failure.tsx';

interface FormActionsProps {
  readonly submitLabel: string;
  /** The request that the form sends. */
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  /** The title of an error: "Couldn’t create the key". */
  readonly failure: string;
  readonly onCancel: () => void;
}

/** The end of a form in a dialog: what went wrong, and its buttons. */
export function FormActions({ submitLabel, change, failure, onCancel }: FormActionsProps) {
  return (
    <>
      {change.error !== null && <Failure error={change.error} title={failure} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel} disabled={change.isPending}>
          Cancel
        </Button>
        <Button type="submit" loading={change.isPending}>
          {submitLabel}
        </Button>
      </Group>
    </>
  );
}
