import { Modal, type ModalProps } from '@mantine/core';
import { useIsMutating } from '@tanstack/react-query';

/** Stays open while a change is being sent: the response may be a secret that is shown only once. */
export function Dialog({ onClose, ...props }: ModalProps) {
  const isSending = useIsMutating() > 0;
  return <Modal onClose={() => isSending || onClose()} {...props} />;
}
