import { Modal, type ModalProps } from '@mantine/core';
import { useIsMutating } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';

interface DialogProps extends ModalProps {
  /** Whether the response to its change is a secret that is shown only once. */
  readonly secret?: boolean;
}

/** Stays open while a change from it is being sent. The page can't be left while that is for a secret. */
export function Dialog({ opened, onClose, title, secret = false, ...props }: DialogProps) {
  // While it fades out, what its title names is already gone.
  const lastTitle = useRef(title);
  if (opened) lastTitle.current = title;
  // An upload that started before does not keep it open.
  const openedAt = useMemo(() => (opened ? Date.now() : 0), [opened]);
  const isSending = useIsMutating({ predicate: ({ state }) => state.submittedAt >= openedAt }) > 0;
  useBlocker({ shouldBlockFn: () => true, disabled: !(secret && opened && isSending) });
  return (
    <Modal
      opened={opened}
      onClose={() => isSending || onClose()}
      title={lastTitle.current}
      // A click outside must not lose a secret.
      {...(secret && { size: 'lg', closeOnClickOutside: false })}
      {...props}
    />
  );
}
