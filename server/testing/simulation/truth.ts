import type { KeyId, MessageId, OrganizationId, ThreadId, UserId } from '../../src/domain/id.ts';
import type { MessageStatus } from '../../src/domain/message.ts';
import type { Listing } from '../../src/storage/port/store.ts';
import type { SimulatedProcess } from './event-loop.ts';

/** A value with its history: what it was at each moment. */
export class Timeline<T> {
  readonly #changes: { readonly value: T; readonly from: number }[] = [];

  constructor(value: T, from: number) {
    this.#changes.push({ value, from });
  }

  get value(): T {
    return this.#changes.at(-1)!.value;
  }

  set(value: T, at: number): void {
    this.#changes.push({ value, from: at });
  }

  /** Whether `matches` held at some moment from `from` on. */
  heldSince(from: number, matches: (value: T) => boolean): boolean {
    for (let place = this.#changes.length - 1; place >= 0; place -= 1) {
      const change = this.#changes[place]!;
      if (matches(change.value)) return true;
      if (change.from <= from) return false;
    }
    return false;
  }
}

export interface ReplyTruth {
  readonly id: MessageId;
  readonly thread: ThreadTruth;
  readonly prompt: string;
  readonly deadlineMs: number;
  /** The content is undefined until a caller has read it. */
  ended: { readonly status: MessageStatus; content: string | undefined; readonly at: number } | undefined;
  /** Undefined while it waits. */
  claim: ClaimTruth | undefined;
  /** The earlier claims whose leases ended. */
  readonly lostClaims: ClaimTruth[];
  retries: number;
  /** Of itself and of the unfinished replies before it: how often the node that held it died or stalled. */
  crashes: number;
  /** Since when it may be claimed. */
  waitingSinceMs: number;
}

interface ClaimTruth {
  readonly token: number;
  readonly node: SimulatedProcess;
  leaseEndsMs: number;
  /** Whether the node died, was paused or was cut off, so that the lease could end. */
  excused: boolean;
}

export interface ThreadTruth {
  readonly id: ThreadId;
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly accountId: string | null;
  readonly title: Timeline<string>;
  readonly deleted: Timeline<boolean>;
  readonly published: Timeline<boolean>;
  readonly prompts: string[];
  readonly replies: ReplyTruth[];
  readonly createdAt: number;
  /** The moment of its last activity: listings show the latest first. */
  activity: number;
  /** The same as a time. Threads of one millisecond are listed in the order of their ids. */
  activityMs: number;
}

export interface KeyTruth {
  readonly id: KeyId;
  readonly organizationId: OrganizationId;
  readonly userId: UserId | null;
  readonly live: Timeline<boolean>;
}

/** A listing at the start of a walk, in its order. */
export interface WalkStart {
  readonly organizationId: OrganizationId;
  readonly listing: string;
  readonly at: number;
  readonly threads: readonly { readonly thread: ThreadTruth; readonly activityMs: number }[];
}

export function isVisible({ userId, ownOnly, accountId }: Listing, thread: ThreadTruth): boolean {
  if (thread.deleted.value || (accountId !== undefined && thread.accountId !== accountId)) return false;
  return thread.userId === userId || (thread.published.value && !ownOnly);
}

/** Whether it was visible all the time since `from`. */
export function stayedVisible(listing: Listing, thread: ThreadTruth, from: number): boolean {
  const isOwn = thread.userId === listing.userId;
  if (thread.deleted.heldSince(from, (deleted) => deleted)) return false;
  return isOwn || !thread.published.heldSince(from, (published) => !published);
}

/** A request that is held: a read that waits for a reply, or a stream. */
export interface Held {
  readonly text: string;
  readonly process: SimulatedProcess;
  readonly thread: ThreadTruth;
  /** Whether the caller knows that this reply has ended. */
  knows(reply: ReplyTruth): boolean;
}
