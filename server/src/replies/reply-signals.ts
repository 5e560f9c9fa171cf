import type { MessageId, OrganizationId, ThreadId } from '../domain/id.ts';
import type { ClaimedReply, NewThread, ReplyClaim, ReplyName, ReplyNotice } from '../storage/port/store.ts';
import { Signals } from '../usecases/signals.ts';

export interface ReplyTaker {
  /** Call this when a reply may be waiting. */
  wake(): void;
  /** A slot for a reply that is about to be created; undefined if its organization gets none, or other replies wait. */
  reserve(organization: OrganizationId): ReservedSlot | undefined;
}

export interface ReservedSlot {
  readonly claim: NonNullable<NewThread['claim']>;
  /** Generates the reply, or without one frees the slot. Either this or `abandon` is called once. */
  take(created?: { readonly reply: ClaimedReply; readonly prompt: string }): void;
  /** Frees the slot, and releases the reply as soon as the store answers, if it was created after all. */
  abandon(reply: ReplyClaim): void;
}

/** Sent after a change is committed. `tendReplies` signals the changes of other processes here, a little later. */
export class ReplySignals {
  /** The worker of this process. */
  taker: ReplyTaker = { wake() {}, reserve: () => undefined };
  /** Passes what happens in this process on to the other nodes. */
  publish: (notice: ReplyNotice) => void = () => {};
  readonly #ends = new Signals<string>();

  replyWaiting(): void {
    this.taker.wake();
    this.publish({ waiting: true, ended: [] });
  }

  /** Handles a notice from another process. It is not passed on. */
  receive({ waiting, ended }: ReplyNotice): void {
    for (const reply of ended) this.#ends.changed(keyOf(reply));
    if (waiting) this.taker.wake();
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
    this.publish({ waiting: false, ended: [reply] });
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
