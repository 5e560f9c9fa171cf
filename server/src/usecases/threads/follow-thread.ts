import { threadNotFound } from '../../domain/errors.ts';
import type { ThreadId } from '../../domain/id.ts';
import { canRead, type UserPrincipal } from '../../domain/principal.ts';
import { type ReplyChange, threadNews } from '../../domain/thread-news.ts';
import type { Context } from '../context.ts';
import { Wakeup } from '../timers.ts';
import type { FollowedState, MessagesView } from './followed-threads.ts';
import { getThreadVersion, loadCreator, type ThreadHeadView, visibleParts } from './get-thread.ts';

export type ThreadEvent =
  /** The whole thread. Its messages are loaded part by part, as the consumer asks for them. */
  | {
      readonly type: 'view';
      readonly view: ThreadHeadView;
      readonly parts: AsyncIterable<MessagesView>;
    }
  /** What was added to the running reply since the event before. */
  | ({ readonly type: 'progress' } & ReplyChange)
  /** The thread can no longer be read. This is the last event. */
  | { readonly type: 'gone' };

/**
 * What one person sees of a thread from now on, until `until` aborts: first a view, then whatever changes, each event
 * relative to the one before it. A slow consumer gets the newest state and misses those in between. Rejects before the
 * first event if the person cannot read the thread.
 */
export async function* followThread(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
  until: AbortSignal,
): AsyncGenerator<ThreadEvent, void> {
  const version = await getThreadVersion(context, principal, threadId);
  const wakeup = new Wakeup(until, context.timers);
  const { poller, leave } = context.followedThreads.follow(
    principal.organizationId,
    threadId as ThreadId,
    wakeup.wake,
  );
  // The consumer may never request another event.
  until.addEventListener('abort', leave);
  try {
    await poller.reach(version);
    let seen = readable(poller.state);
    if (seen === undefined) throw threadNotFound();
    const createdBy = await loadCreator(context, seen.thread);
    const mine = seen.thread.userId === principal.userId;
    const viewOf = (state: FollowedState): ThreadEvent => ({
      type: 'view',
      view: { ...state, createdBy, mine },
      parts: visibleParts(
        poller.parts(state, () => readable(poller.state) !== undefined),
        mine,
      ),
    });
    yield viewOf(seen);
    for (;;) {
      await wakeup.wait();
      if (until.aborted) return;
      const now = readable(poller.state);
      if (now === undefined) return yield { type: 'gone' };
      const news = threadNews(seen, now);
      seen = now;
      if (news === 'more') yield viewOf(now);
      else if (news !== 'nothing') yield { type: 'progress', ...news };
    }
  } finally {
    until.removeEventListener('abort', leave);
    leave();
  }

  function readable(state: FollowedState | null): FollowedState | undefined {
    return state !== null && canRead(principal, state.thread) ? state : undefined;
  }
}
