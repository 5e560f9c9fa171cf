import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';

interface ConfirmProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The question: "Revoke this key?" */
  readonly title: string;
  /** The verb on the button: "Revoke". */
  readonly confirmLabel: string;
  /** Whether it deletes something. */
  readonly destructive?: boolean;
  /** Whether it gets a secret that is shown only once. */
  readonly secret?: boolean;
  /** The dialog closes when this resolves. When it rejects, the dialog stays open and shows the error. */
  readonly onConfirm: () => Promise<unknown>;
  /** What it will do. */
  readonly children: ReactNode;
}

export function Confirm(props: ConfirmProps) {
  const {
    opened,
    onClose,
    title,
    confirmLabel,
    destructive = false,
    secret = false,
    onConfirm,
    children,
  } = props;
  const confirming = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const close = () => {
    confirming.reset();
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={title} size="md" secret={secret} centered>
      <Stack gap="md">
        <div>{children}</div>
        {confirming.isError && (
          <Failure error={confirming.error} title={`Couldn’t ${confirmLabel.toLowerCase()}`} />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} disabled={confirming.isPending} data-autofocus>
            Cancel
          </Button>
          <Button
            {...(destructive && { color: 'red' })}
            loading={confirming.isPending}
            onClick={() => confirming.mutate()}
          >
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
