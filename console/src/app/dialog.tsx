import { Modal, type ModalProps } from '@mantine/core';
import { useIsMutating } from '@tanstack/react-query';
import { useMemo } from 'react';

/** Stays open while a change from it is being sent: the response may be a secret that is shown only once. */
export function Dialog({ opened, onClose, ...props }: ModalProps) {
  // An upload that started before does not keep it open.
  const openedAt = useMemo(() => (opened ? Date.now() : 0), [opened]);
  const isSending = useIsMutating({ predicate: ({ state }) => state.submittedAt >= openedAt }) > 0;
  return <Modal opened={opened} onClose={() => isSending || onClose()} {...props} />;
}
