import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type {
  ClaimedReply,
  NewThread,
  ReplyClaim,
  ReplyName,
  ReplyNotice,
  Store,
} from '../../storage/store.ts';
import { Signals } from '../signals.ts';
import type { Timers } from '../timers.ts';

export interface ReplyTaker {
  /** Call this when a reply may be waiting. */
  wake(): void;
  /** A place for a reply that is about to be created; undefined if its organization gets none, or other replies wait. */
  reserve(organization: OrganizationId): ReservedPlace | undefined;
}

export interface ReservedPlace {
  readonly claim: NonNullable<NewThread['claim']>;
  /** Generates the reply, or without one frees the place. Either this or `abandon` is called once. */
  take(created?: { readonly reply: ClaimedReply; readonly prompt: string }): void;
  /** Frees the place, and releases the reply as soon as the store answers, if it was created after all. */
  abandon(reply: ReplyClaim): void;
}

/** Sent after a change is committed. `tendReplies` signals the changes of other processes here, a little later. */
export class ReplySignals {
  readonly #ends = new Signals<string>();
  #taker: ReplyTaker = { wake() {}, reserve: () => undefined };
  #tell: (notice: ReplyNotice) => void = () => {};

  replyWaiting(): void {
    this.#taker.wake();
    this.#tell({ waiting: true, ended: [] });
  }

  /** Handles a notice from another process. It is not passed on. */
  hear({ waiting, ended }: ReplyNotice): void {
    for (const reply of ended) this.#ends.changed(keyOf(reply));
    if (waiting) this.#taker.wake();
  }

  /** Sets the listener for what happens in this process, replacing an earlier one. */
  onNotice(tell: (notice: ReplyNotice) => void): void {
    this.#tell = tell;
  }

  /** Sets the worker of this process, replacing an earlier one. */
  setTaker(taker: ReplyTaker): void {
    this.#taker = taker;
  }

  reserve(organization: OrganizationId): ReservedPlace | undefined {
    return this.#taker.reserve(organization);
  }

  /** Calls `ended` once when the reply has ended. Returns a function that stops watching. */
  watch(reply: ReplyName, ended: () => void): () => void {
    const unwatch = this.#ends.follow(keyOf(reply), () => {
      unwatch();
      ended();
    });
    return unwatch;
  }

  replyEnded(reply: ReplyName): void {
    this.#ends.changed(keyOf(reply));
    this.#tell({ waiting: false, ended: [reply] });
  }

  watched(): ReplyName[] {
    return this.#ends.followed().map((key) => {
      const [organizationId, threadId, messageId] = key.split(' ') as [OrganizationId, ThreadId, MessageId];
      return { organizationId, threadId, messageId };
    });
  }
}

function keyOf({ organizationId, threadId, messageId }: ReplyName): string {
  return `${organizationId} ${threadId} ${messageId}`;
}

interface RelayParts {
  readonly store: Pick<Store, 'sendNotice' | 'onNotice'>;
  readonly replySignals: ReplySignals;
  readonly timers: Timers;
}

/** Batches notices, so that a node under load sends fifty a second, not thousands. */
const gatherMs = 20;

/** Passes the signals of this process to the other nodes, and theirs to this one. Returns a function that stops it. */
export function relaySignals({ store, replySignals, timers }: RelayParts): () => Promise<void> {
  let ended: ReplyName[] = [];
  let waiting = false;
  let cancelDue: (() => void) | undefined;
  let telling: Promise<void> = Promise.resolve();

  function tellNow(): void {
    const notice: ReplyNotice = { waiting, ended };
    ended = [];
    waiting = false;
    cancelDue = undefined;
    // The next poll makes up for a lost notice.
    telling = store.sendNotice(notice).catch(() => {});
  }

  replySignals.onNotice((notice) => {
    waiting ||= notice.waiting;
    ended.push(...notice.ended);
    cancelDue ??= timers.after(gatherMs, tellNow);
  });
  store.onNotice((notice) => replySignals.hear(notice));

  return async () => {
    replySignals.onNotice(() => {});
    if (cancelDue !== undefined) {
      cancelDue();
      tellNow();
    }
    await telling;
  };
}
