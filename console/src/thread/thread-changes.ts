import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FollowUpBody, PublishedBody, RenameBody, ThreadJson, ThreadViewJson } from '../api/contract.ts';
import { keys } from '../api/queries.ts';
import { inOrganization, request } from '../api/request.ts';
import type { FollowedThread } from './use-thread.ts';

/** What people can do with their own thread. Each change shows immediately, here and in the lists. */
export function useThreadChanges(organizationId: string, threadId: string, followed: FollowedThread) {
  const queryClient = useQueryClient();
  const { take, takeThread } = followed;
  const at = (path = '') => inOrganization(organizationId, `/threads/${encodeURIComponent(threadId)}${path}`);
  const refreshLists = () => void queryClient.invalidateQueries({ queryKey: keys.threads(organizationId) });
  const onView = (view: ThreadViewJson) => {
    take(view);
    refreshLists();
  };
  const onThread = ({ thread }: { thread: ThreadJson }) => {
    takeThread(thread);
    refreshLists();
  };
  return {
    send: useMutation({
      mutationFn: (prompt: string) =>
        request<ThreadViewJson>('POST', at('/messages'), { body: { prompt } satisfies FollowUpBody }),
      onMutate: () => ({ knownMessages: followed.view?.messages.length ?? 0 }),
      onSuccess: onView,
    }),
    edit: useMutation({
      mutationFn: (body: FollowUpBody) => request<ThreadViewJson>('POST', at('/messages'), { body }),
      onSuccess: onView,
    }),
    stop: useMutation({
      mutationFn: () => request<ThreadViewJson>('POST', at('/stop')),
      onSuccess: onView,
    }),
    retry: useMutation({
      mutationFn: () => request<ThreadViewJson>('POST', at('/retry')),
      onSuccess: onView,
    }),
    rename: useMutation({
      mutationFn: (title: string) =>
        request<{ thread: ThreadJson }>('PATCH', at(), { body: { title } satisfies RenameBody }),
      onSuccess: onThread,
    }),
    publish: useMutation({
      mutationFn: (published: boolean) =>
        request<{ thread: ThreadJson }>('PUT', at('/published'), {
          body: { published } satisfies PublishedBody,
        }),
      onSuccess: onThread,
    }),
  };
}

export type ThreadChanges = ReturnType<typeof useThreadChanges>;
