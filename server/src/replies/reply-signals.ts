import { Signals } from '../../../runtime/src/pure/signals.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import type { MessageId, OrganizationId, ThreadId } from '../domain/id.ts';
import type { Notices, ReplyName, ReplyNotice, Threads } from '../storage/port/store.ts';

/** The worker of this process. */
export interface LocalWorker {
  /** Call this when a reply may be waiting. */
  wake(): void;
  /**
   * Creates the thread and claims its reply in the same commit. Undefined if no slot is free for the organization, or other
   * replies wait.
   */
  createThread(
    ...created: Parameters<Threads['createThread']>
  ): ReturnType<Threads['createThread']> | undefined;
}

/** Sent after a change is committed. `tendReplies` signals the changes of other processes here, a little later. */
export class ReplySignals {
  worker: LocalWorker | undefined;
  /** Passes what happens in this process on to the other nodes. */
  publish: (notice: ReplyNotice) => void = () => {};
  readonly #ends = new Signals<string>();

  replyWaiting(): void {
    this.worker?.wake();
    this.publish({ waiting: true, ended: [] });
  }

  /** Handles a notice from another process. It is not passed on. */
  receive({ waiting, ended }: ReplyNotice): void {
    for (const reply of ended) this.#ends.changed(toKey(reply));
    if (waiting) this.worker?.wake();
  }

  /** Calls `ended` once when the reply has ended. Returns a function that stops watching. */
  watch(reply: ReplyName, ended: () => void): () => void {
    const unwatch = this.#ends.follow(toKey(reply), () => {
      unwatch();
      ended();
    });
    return unwatch;
  }

  replyEnded(reply: ReplyName): void {
    this.#ends.changed(toKey(reply));
    this.publish({ waiting: false, ended: [reply] });
  }

  watched(): ReplyName[] {
    return this.#ends.followed().map((key) => {
      const [organizationId, threadId, messageId] = key.split(' ') as [OrganizationId, ThreadId, MessageId];
      return { organizationId, threadId, messageId };
    });
  }
}

function toKey({ organizationId, threadId, messageId }: ReplyName): string {
  return `${organizationId} ${threadId} ${messageId}`;
}

interface RelayNeeds {
  readonly store: Notices;
  readonly replySignals: ReplySignals;
  readonly timers: Pick<Timers, 'after'>;
}

/** Batches notices, so that a node under load sends fifty a second, not thousands. */
const gatherMs = 20;

/** Passes the signals of this process to the other nodes, and theirs to this one. Returns a function that stops it. */
export function relaySignals({ store, replySignals, timers }: RelayNeeds): () => Promise<void> {
  let ended: ReplyName[] = [];
  let waiting = false;
  let cancelDue: (() => void) | undefined;
  let sending: Promise<void> = Promise.resolve();

  function sendNow(): void {
    const notice: ReplyNotice = { waiting, ended };
    ended = [];
    waiting = false;
    cancelDue = undefined;
    // The next poll makes up for a lost notice.
    sending = store.sendNotice(notice).catch(() => {});
  }

  replySignals.publish = (notice) => {
    waiting ||= notice.waiting;
    ended.push(...notice.ended);
    cancelDue ??= timers.after(gatherMs, sendNow);
  };
  store.onNotice((notice) => replySignals.receive(notice));

  return async () => {
    replySignals.publish = () => {};
    if (cancelDue !== undefined) {
      cancelDue();
      sendNow();
    }
    await sending;
  };
}
