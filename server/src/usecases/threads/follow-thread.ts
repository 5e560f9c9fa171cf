import { createWakeup, type Timers } from '../../../../runtime/src/timers.ts';
import { threadNotFound } from '../../domain/errors.ts';
import type { ThreadId } from '../../domain/id.ts';
import { type AssistantMessage, deriveThreadStatus, type Step } from '../../domain/message.ts';
import { canRead, type UserPrincipal } from '../../domain/principal.ts';
import { isRunning } from '../../domain/reply.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Store, ThreadHead } from '../../storage/port/store.ts';
import type { FollowedThreads } from './followed-threads.ts';
import { loadCreator, type ThreadReads, type ThreadView } from './get-thread.ts';

export type ThreadEvent =
  /** The whole thread. Its messages are loaded part by part, as the consumer asks for them. */
  | ({ readonly type: 'view' } & ThreadView)
  /** What was added to the running reply since the event before. */
  | ({ readonly type: 'progress' } & ReplyChange)
  /** The thread can no longer be read. This is the last event. */
  | { readonly type: 'gone' };

interface ThreadFollowingNeeds {
  readonly store: Pick<Store, 'findMemberById'>;
  readonly reads: Pick<ThreadReads, 'getVersion'>;
  readonly followedThreads: FollowedThreads;
  readonly timers: Timers;
}

export type ThreadFollowing = ReturnType<typeof createThreadFollowing>;

export function createThreadFollowing(needs: ThreadFollowingNeeds) {
  const { store, reads, followedThreads, timers } = needs;
  return { follow };

  /**
   * First a view, then what changes, each event relative to the one before it, until `until` aborts. A slow consumer misses
   * states in between. Rejects before the first event if the person cannot read the thread.
   */
  async function* follow(
    principal: UserPrincipal,
    threadId: string,
    until: AbortSignal,
  ): AsyncGenerator<ThreadEvent, void> {
    const version = await reads.getVersion(principal, threadId);
    const wakeup = createWakeup(until, timers);
    const { poller, leave } = followedThreads.follow(
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
      const createdBy = await loadCreator(store, seen.thread);
      const mine = seen.thread.userId === principal.userId;
      const toViewEvent = (state: ThreadHead): ThreadEvent => ({
        type: 'view',
        view: { ...state, status: deriveThreadStatus([state.latest]), createdBy, mine },
        parts: poller.parts(state, () => readable(poller.state) !== undefined),
      });
      yield toViewEvent(seen);
      for (;;) {
        await wakeup.wait();
        if (until.aborted) return;
        const now = readable(poller.state);
        if (now === undefined) return yield { type: 'gone' };
        const change = threadChange(seen, now);
        seen = now;
        if (change === 'more') yield toViewEvent(now);
        else if (change !== 'nothing') yield { type: 'progress', ...change };
      }
    } finally {
      until.removeEventListener('abort', leave);
      leave();
    }

    function readable(state: ThreadHead | null): ThreadHead | undefined {
      return state !== null && canRead(principal, state.thread) ? state : undefined;
    }
  }
}

/** The parts of a thread that are compared. Messages before the latest reply never change. */
export type SeenThread = Pick<ThreadHead, 'thread' | 'messageCount' | 'latest'>;

/** How a running reply has changed: steps and text are new from these positions on, or from 0 if they did not only grow. */
export interface ReplyChange {
  readonly reply: AssistantMessage;
  readonly stepsFrom: number;
  /** In UTF-16 units. */
  readonly textFrom: number;
}

/** What has changed since `seen`: nothing, only the running reply, or (`more`) anything else. */
export function threadChange(seen: SeenThread, now: SeenThread): 'nothing' | 'more' | ReplyChange {
  const isSame = isSameThread(seen.thread, now.thread) && seen.messageCount === now.messageCount;
  if (!isSame || seen.latest.id !== now.latest.id) return 'more';
  if (!isRunning(seen.latest.status)) return 'nothing';
  return isRunning(now.latest.status) ? replyChange(seen.latest, now.latest) : 'more';
}

function replyChange(before: AssistantMessage, reply: AssistantMessage): 'nothing' | ReplyChange {
  const hasSteps = before.steps.every((step, place) => isSameStep(step, reply.steps[place]));
  const stepsFrom = hasSteps ? before.steps.length : 0;
  const textFrom = reply.content.startsWith(before.content) ? before.content.length : 0;
  const isSame =
    before.status === reply.status &&
    hasSteps &&
    stepsFrom === reply.steps.length &&
    before.content === reply.content;
  return isSame ? 'nothing' : { reply, stepsFrom, textFrom };
}

function isSameThread(seen: Thread, now: Thread): boolean {
  return seen.title === now.title && seen.published === now.published && seen.updatedAt === now.updatedAt;
}

function isSameStep(seen: Step, now: Step | undefined): boolean {
  return seen.description === now?.description && seen.at === now.at;
}
