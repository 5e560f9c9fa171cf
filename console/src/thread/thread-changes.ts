import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Json } from '../api/contract.ts';
import { keys } from '../api/queries.ts';
import { inOrganization, request } from '../api/request.ts';
import type { FollowedThread } from './use-thread.ts';

/** What people can do with their own thread. Each change shows immediately, here and in the lists. */
export function useThreadChanges(organizationId: string, threadId: string, followed: FollowedThread) {
  const queryClient = useQueryClient();
  const { take, takeThread } = followed;
  const at = (path = '') => inOrganization(organizationId, `/threads/${encodeURIComponent(threadId)}${path}`);
  const refreshLists = () => void queryClient.invalidateQueries({ queryKey: keys.threads(organizationId) });
  const onView = (view: Json<'threadView'>) => {
    take(view);
    refreshLists();
  };
  const onThread = ({ thread }: { thread: Json<'thread'> }) => {
    takeThread(thread);
    refreshLists();
  };
  return {
    send: useMutation({
      mutationFn: (prompt: string) =>
        request<Json<'threadView'>>('POST', at('/messages'), {
          body: { prompt } satisfies Json<'followUpBody'>,
        }),
      onMutate: () => ({ knownMessages: followed.view?.messages.length ?? 0 }),
      onSuccess: onView,
    }),
    edit: useMutation({
      mutationFn: (body: Json<'followUpBody'>) =>
        request<Json<'threadView'>>('POST', at('/messages'), { body }),
      onSuccess: onView,
    }),
    stop: useMutation({
      mutationFn: () => request<Json<'threadView'>>('POST', at('/stop')),
      onSuccess: onView,
    }),
    retry: useMutation({
      mutationFn: () => request<Json<'threadView'>>('POST', at('/retry')),
      onSuccess: onView,
    }),
    rename: useMutation({
      mutationFn: (title: string) =>
        request<{ thread: Json<'thread'> }>('PATCH', at(), { body: { title } satisfies Json<'renameBody'> }),
      onSuccess: onThread,
    }),
    publish: useMutation({
      mutationFn: (published: boolean) =>
        request<{ thread: Json<'thread'> }>('PUT', at('/published'), {
          body: { published } satisfies Json<'publishedBody'>,
        }),
      onSuccess: onThread,
    }),
  };
}

export type ThreadChanges = ReturnType<typeof useThreadChanges>;
