import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { keys, threadOptions } from '../api/queries.ts';
import { ApiError, inOrganization } from '../api/request.ts';
import { nothingKnown, reduceThread } from './thread-state.ts';
import { openThreadStream, type ThreadStream } from './thread-stream.ts';

export type FollowedThread = ReturnType<typeof useThread>;

/** Loads a thread and follows its changes. */
export function useThread(organizationId: string, threadId: string) {
  const queryClient = useQueryClient();
  const key = keys.thread(organizationId, threadId);
  const [state, dispatch] = useReducer(reduceThread, null, () => ({
    ...nothingKnown,
    view: queryClient.getQueryData<Json<'threadView'>>(key) ?? null,
  }));
  const [isLive, setLive] = useState(false);
  const [isGone, setGone] = useState(false);
  const stream = useRef<ThreadStream>(undefined);

  useEffect(() => {
    const opened = openThreadStream({
      url: `/console${inOrganization(organizationId, `/threads/${encodeURIComponent(threadId)}/events`)}`,
      onView: (view) => dispatch({ type: 'view', view, pageMs: performance.now() }),
      onProgress: (progress) => dispatch({ type: 'progress', progress }),
      onLive: setLive,
      isGone: async () => {
        try {
          const view = await queryClient.fetchQuery({
            ...threadOptions(organizationId, threadId),
            staleTime: 0,
          });
          dispatch({ type: 'response', view, isLive: false });
          return false;
        } catch (error) {
          // The query client handles an ended session and shows the sign-in page.
          const status = error instanceof ApiError ? error.status : undefined;
          if (status === 404) setGone(true);
          return status === 404 || status === 401;
        }
      },
    });
    stream.current = opened;
    return () => opened.close();
  }, [organizationId, threadId, queryClient]);

  useEffect(() => {
    if (state.unappliedProgress > 0) stream.current?.restart();
  }, [state.unappliedProgress]);

  // Returning to the thread shows its last known state immediately.
  const { view } = state;
  useEffect(() => {
    if (view) queryClient.setQueryData(keys.thread(organizationId, threadId), view);
  }, [view, organizationId, threadId, queryClient]);

  /** Applies the response to a request. */
  const take = useCallback(
    (response: Json<'threadView'>) => dispatch({ type: 'response', view: response, isLive }),
    [isLive],
  );
  const takeThread = useCallback((thread: Json<'thread'>) => dispatch({ type: 'thread', thread }), []);
  return { view, takeThread, clockAheadMs: state.clockAheadMs, isLive, isGone, take };
}
