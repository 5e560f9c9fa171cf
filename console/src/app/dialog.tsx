import { Modal, type ModalProps } from '@mantine/core';
import { type Mutation, useIsMutating, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';

interface DialogProps extends ModalProps {
  /** Whether the response to its change is a secret that is shown only once. */
  readonly secret?: boolean;
}

/** Stays open while a change from it is being sent. The page can't be left while that is for a secret. */
export function Dialog({ opened, onClose, title, secret = false, ...props }: DialogProps) {
  // While the dialog fades out, the thing that its title names may already be gone.
  const lastTitle = useRef(title);
  if (opened) lastTitle.current = title;
  // An upload that started before does not keep it open.
  const openedAt = useMemo(() => (opened ? Date.now() : 0), [opened]);
  const sent = { predicate: ({ state }: Mutation) => state.submittedAt >= openedAt };
  const isSending = useIsMutating(sent) > 0;
  const queryClient = useQueryClient();
  // Esc may be pressed before the dialog is rendered again.
  const close = () => queryClient.isMutating(sent) > 0 || onClose();
  useBlocker({ shouldBlockFn: () => true, disabled: !(secret && opened && isSending) });
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={lastTitle.current}
      // A click outside must not lose a secret.
      {...(secret && { size: 'lg', closeOnClickOutside: false })}
      {...props}
    />
  );
}
