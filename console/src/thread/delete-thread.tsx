import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useRef } from 'react';
import type { Json } from '../api/contract.ts';
import { keys } from '../api/queries.ts';
import { inOrganization, request } from '../api/request.ts';
import { failureText } from '../app/failure.tsx';
import { shownTitle } from '../threads/shown-title.ts';

/** Deletes a thread, returns to the list, and offers an undo for as long as the service allows it. */
export function useDeleteThread(organizationId: string, { id, title }: Json<'thread'>) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = inOrganization(organizationId, `/threads/${encodeURIComponent(id)}`);
  const refreshLists = () => queryClient.invalidateQueries({ queryKey: keys.threads(organizationId) });
  const note = `deleted-${id}`;

  const undo = async () => {
    notifications.hide(note);
    try {
      await request<{ thread: Json<'thread'> }>('POST', `${path}/restore`);
    } catch (error) {
      notifications.show({ color: 'red', title: 'Couldn’t restore the thread', message: failureText(error) });
      return;
    }
    void refreshLists();
    await router.navigate({ to: '/threads/$threadId', params: { threadId: id } });
  };

  return useMutation({
    mutationFn: () => request<Json<'deleted'>>('DELETE', path),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t delete the thread', message: failureText(error) }),
    onSuccess: async ({ undoSeconds }) => {
      void refreshLists();
      await router.navigate({ to: '/' });
      // Not earlier, because the page that is being left still shows the thread.
      queryClient.removeQueries({ queryKey: keys.thread(organizationId, id) });
      focusHeading();
      notifications.show({
        id: note,
        autoClose: undoSeconds * 1_000,
        message: <Deleted title={title} onUndo={() => void undo()} />,
        closeButtonProps: { 'aria-label': 'Dismiss' },
      });
    },
  });
}

export type ThreadDeletion = ReturnType<typeof useDeleteThread>;

function Deleted({ title, onUndo }: { title: string; onUndo: () => void }) {
  // The note stays for a moment after the first click.
  const isUndone = useRef(false);
  const undo = () => {
    if (!isUndone.current) onUndo();
    isUndone.current = true;
  };
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <Text size="sm" lineClamp={2}>
        Deleted “<bdi>{shownTitle(title)}</bdi>”
      </Text>
      <Button size="compact-sm" variant="light" flex="none" onClick={undo}>
        Undo
      </Button>
    </Group>
  );
}

/** Moves the focus to the heading, so that screen readers announce the new page. */
function focusHeading(): void {
  requestAnimationFrame(() => {
    const heading = document.querySelector<HTMLElement>('main h1');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus();
  });
}
