import { ServiceError } from '../domain/errors.ts';
import type { ThreadId } from '../domain/id.ts';
import { type ReplyNews, threadNews } from '../domain/thread-news.ts';
import type { Context } from './context.ts';
import { getThread } from './get-thread.ts';
import { getThreadView, type ThreadView, type Viewer, viewOf } from './get-thread-view.ts';

export type ThreadEvent =
  /** All there is. */
  | { readonly type: 'view'; readonly view: ThreadView }
  /** How the running reply has come on since the event before. */
  | ({ readonly type: 'progress' } & ReplyNews)
  /** The thread cannot be read any more. The last event. */
  | { readonly type: 'gone' };

/** How often the thread is looked at: other processes write, too, and do not always say so. */
export interface FollowPace {
  /** Never more often than this, whatever is signalled. */
  readonly atMostEveryMs: number;
  readonly whileRunningMs: number;
  readonly whileIdleMs: number;
}

const usualPace: FollowPace = { atMostEveryMs: 100, whileRunningMs: 500, whileIdleMs: 3000 };

/**
 * What one person sees of a thread from now on, until `until` aborts: first a view, then whatever changes, each event
 * against the one that was taken before it. Who is slow in taking them is told of the newest state, and misses what
 * came between. Rejects before the first event where the thread cannot be read.
 */
export async function* followThread(
  context: Context,
  viewer: Viewer,
  threadId: string,
  until: AbortSignal,
  pace: FollowPace = usualPace,
): AsyncGenerator<ThreadEvent, void> {
  const bell = new Bell(until);
  // Before the first look: what changes after it is heard of.
  const unfollow = context.threadSignals.follow(threadId as ThreadId, bell.ring);
  let unwatch = () => {};
  try {
    let seen = await getThreadView(context, viewer, threadId);
    unwatch = watchReply(context, seen, bell.ring);
    yield { type: 'view', view: seen };
    while (!until.aborted) {
      await bell.rung(spread(seen.status.state === 'in_progress' ? pace.whileRunningMs : pace.whileIdleMs));
      if (until.aborted) return;
      const { event, view } = await look(context, viewer, seen);
      seen = view;
      unwatch();
      unwatch = watchReply(context, seen, bell.ring);
      if (event !== undefined) yield event;
      if (event?.type === 'gone') return;
      await bell.silence(pace.atMostEveryMs);
    }
  } finally {
    unwatch();
    unfollow();
  }
}

async function look(
  context: Context,
  viewer: Viewer,
  seen: ThreadView,
): Promise<{ view: ThreadView; event?: ThreadEvent }> {
  try {
    const found = await getThread(context, viewer.principal, seen.thread.id);
    const news = threadNews(seen, found);
    if (news === 'nothing') return { view: seen };
    if (news !== 'more') return { view: { ...seen, ...found }, event: { type: 'progress', ...news } };
    const view = await viewOf(context, viewer, found, seen.createdBy);
    return { view, event: { type: 'view', view } };
  } catch (error) {
    if (error instanceof ServiceError) return { view: seen, event: { type: 'gone' } };
    // A store that does not answer now is asked again at the next look.
    return { view: seen };
  }
}

/** The end of a reply is told at once, also when another node wrote it. */
function watchReply({ replySignals }: Context, { thread, status }: ThreadView, ended: () => void) {
  if (status.activeMessageId === null) return () => {};
  const { organizationId, id } = thread;
  return replySignals.watch({ organizationId, threadId: id, messageId: status.activeMessageId }, ended);
}

/** By chance up to a quarter shorter or longer: those who came together do not go on looking together. */
function spread(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}

/** Remembers that it was rung until somebody asks. */
class Bell {
  readonly #until: AbortSignal;
  #isRung = false;
  #answer = () => {};

  constructor(until: AbortSignal) {
    this.#until = until;
  }

  readonly ring = (): void => {
    this.#isRung = true;
    this.#answer();
  };

  /** Resolves when it was rung since the last time, or after `ms`, or at the end. */
  async rung(ms: number): Promise<void> {
    if (!this.#isRung) await this.#wait(ms, true);
    this.#isRung = false;
  }

  /** Resolves after `ms`, or at the end. */
  silence(ms: number): Promise<void> {
    return this.#wait(ms, false);
  }

  #wait(ms: number, answersRing: boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#until.removeEventListener('abort', done);
        this.#answer = () => {};
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#until.addEventListener('abort', done);
      if (answersRing) this.#answer = done;
      if (this.#until.aborted) done();
    });
  }
}
