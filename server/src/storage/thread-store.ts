import type { Position } from '../domain/cursor.ts';
import type { MessageId, OrganizationId, ThreadId, UserId } from '../domain/id.ts';
import type { AssistantMessage, Message, Verdict } from '../domain/message.ts';
import type { Thread } from '../domain/thread.ts';
import type { AuditNote } from './audit-store.ts';

export interface NewThread {
  readonly id: ThreadId;
  readonly userId: UserId;
  /** As of a `Writer`. */
  readonly keyHash: string | null;
  readonly title: string;
  readonly accountId: string | null;
  readonly secondaryId: string | null;
  readonly prompt: string;
  readonly messageId: MessageId;
  readonly replyId: MessageId;
  readonly replyDeadlineMs: number;
  readonly traceId: string;
  readonly idempotency?: { readonly key: string; readonly bodyHash: string; readonly keepMs: number };
}

/** Who writes. */
export interface Writer {
  readonly userId: UserId;
  /**
   * The personal key that they write by. The write happens only if it is the user's live key and its organization is in
   * the beta at the commit; otherwise nothing changes and the outcome is `revoked`. Null: not by a key.
   */
  readonly keyHash: string | null;
}

/** Who reads: the user, or (null) the organization's service identity. */
export interface Reader {
  readonly userId: UserId | null;
}

/** Whose threads a listing shows: the user's own and all published ones, or (null) the published ones only. */
export interface Listing {
  readonly userId: UserId | null;
  /** The user's own only, published or not. */
  readonly ownOnly?: true;
  /** Only threads of this account. */
  readonly accountId?: string;
}

/** A reply that is to be written in a thread that exists. */
export interface NewReply {
  /** What the user said; null tries anew to answer the last message. */
  readonly prompt: { readonly messageId: MessageId; readonly content: string } | null;
  readonly replyId: MessageId;
  readonly replyDeadlineMs: number;
  readonly traceId: string;
  readonly budget: ThreadBudget;
}

/** How much a thread may hold once a prompt was added, or before its last reply is tried again. */
export interface ThreadBudget {
  /** The reply that is to be written included. */
  readonly messagesMax: number;
  /** Of prompts and replies with their steps, sources and verdicts, in UTF-8. The reply that is to be written does not count yet. */
  readonly bytesMax: number;
}

/** What is kept of a reply besides its message, for the console: never part of the public interface. */
export interface ReplyDetails {
  readonly messageId: MessageId;
  /** Of the request that asked for it. */
  readonly traceId: string;
  /** Why it failed, or why its last attempt did. */
  readonly failure: string | null;
  readonly verdict: Verdict | null;
}

/** A thread and its latest reply, which is its last message, of one moment. */
export interface ThreadHead {
  readonly thread: Thread;
  readonly version: number;
  readonly messageCount: number;
  readonly latest: AssistantMessage;
}

export interface ListedThread {
  readonly thread: Thread;
  /** Where it stood when the walk began; a rename or a prompt since then has moved the thread itself. */
  readonly position: Position;
}

export interface ThreadPage {
  readonly rows: ListedThread[];
  /** Whether a row follows the last one of this page. */
  readonly more: boolean;
}

export interface Threads {
  /**
   * Thread, user message and assistant message (`in_progress`) in one commit. A key seen before from the same user
   * within `keepMs` creates nothing: with the same body it answers what it made then, with another `key-reused`.
   */
  createThread(
    organizationId: OrganizationId,
    thread: NewThread,
  ): Promise<
    | { outcome: 'created'; createdAt: number }
    | { outcome: 'repeated'; threadId: ThreadId; messageId: MessageId; replyId: MessageId; createdAt: number }
    | { outcome: 'key-reused' }
    | { outcome: 'revoked' }
  >;
  /**
   * The thread with every message in order of creation, of one moment; deleted threads included. With a reader, only
   * what they may read (their own or published, not deleted): anything else is undefined, and its messages are not
   * loaded, so that it takes as long as a thread that does not exist.
   */
  getThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
    reader?: Reader,
  ): Promise<{ thread: Thread; version: number; messages: Message[] } | undefined>;
  /** The thread without its messages; deleted threads included. */
  findThread(organizationId: OrganizationId, threadId: ThreadId): Promise<Thread | undefined>;
  /** What `getThread` would answer, without the messages before the latest reply. */
  getThreadHead(organizationId: OrganizationId, threadId: ThreadId): Promise<ThreadHead | undefined>;
  /**
   * Consecutive messages in order of creation: at most `limit`, and no further one once they hold `bytesMax` bytes. Empty
   * where no message follows the first `skip`.
   */
  listMessages(
    organizationId: OrganizationId,
    threadId: ThreadId,
    part: { readonly skip: number; readonly limit: number; readonly bytesMax: number },
  ): Promise<Message[]>;
  /**
   * A number that grows with every change of the thread or its messages that a reader can see, and with nothing else:
   * claims and renewals of a reply leave it as it is. Undefined where the reader may not read. No message is looked at.
   */
  threadVersion(
    organizationId: OrganizationId,
    threadId: ThreadId,
    reader: Reader,
  ): Promise<number | undefined>;
  /** The reply that waits or is being written; null where none is, undefined where the reader may not read. */
  findRunningReply(
    organizationId: OrganizationId,
    threadId: ThreadId,
    reader: Reader,
  ): Promise<MessageId | null | undefined>;
  /**
   * Renames if the writer created the thread and it is not deleted; otherwise changes nothing and returns the thread.
   * The new activity lies above that of everything committed before.
   */
  renameThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
    writer: Writer,
    title: string,
  ): Promise<
    { outcome: 'renamed' | 'refused'; thread: Thread } | { outcome: 'missing' } | { outcome: 'revoked' }
  >;
  /**
   * Deletes softly, and cancels a running reply in the same commit, under the same conditions as `renameThread`. Answers
   * the replies that it ended.
   */
  deleteThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
    writer: Writer,
    note: AuditNote,
  ): Promise<
    | { outcome: 'deleted'; cancelled: MessageId[] }
    | { outcome: 'refused'; thread: Thread }
    | { outcome: 'missing' }
    | { outcome: 'revoked' }
  >;
  /** Takes a deletion by its creator back, if it is not longer ago than `withinMs`. What it cancelled stays cancelled. */
  restoreThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
    withinMs: number,
    note: AuditNote,
  ): Promise<'restored' | 'missing'>;
  /**
   * A prompt with its reply, or another try at the last reply, under the same conditions as `renameThread`. A prompt is
   * activity, as a rename is; a try is not. `running`: one reply at a time. `nothing-to-retry`: the last reply is neither
   * failed nor cancelled. `full`: it would exceed the budget, however many add at once. A deleted thread is `missing`.
   */
  addReply(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
    reply: NewReply,
  ): Promise<
    | { outcome: 'added' }
    | { outcome: 'running' | 'nothing-to-retry' | 'missing' }
    | { outcome: 'full'; exceeded: 'messages' | 'bytes' }
    | { outcome: 'refused'; thread: Thread }
  >;
  /** Of every reply of the thread, or of those of these ids, in order of creation. */
  listReplyDetails(
    organizationId: OrganizationId,
    threadId: ThreadId,
    ids?: readonly MessageId[],
  ): Promise<ReplyDetails[]>;
  /**
   * Accounts that begin with `prefix` and that threads of the user, or published ones, belong to, in order of their ids.
   * It looks at so many that the cost is bounded: where very many have been emptied, some may be left out.
   */
  listAccounts(
    organizationId: OrganizationId,
    userId: UserId,
    prefix: string,
    limit: number,
  ): Promise<string[]>;
  /** Deleted threads are `missing`. Touches neither activity nor `updatedAt`. */
  setThreadPublished(
    organizationId: OrganizationId,
    threadId: ThreadId,
    published: boolean,
    note: AuditNote,
  ): Promise<'done' | 'missing'>;
  /** The first page of a walk, its start, and how many threads the listing has now. The cost does not grow with that. */
  beginWalk(
    organizationId: OrganizationId,
    listing: Listing,
    limit: number,
  ): Promise<ThreadPage & { start: string; size: number }>;
  /**
   * A later page: the threads that existed at `start` in the order they had then, less those deleted or hidden since.
   * `expired`: the walk began longer than `walkMsMax` ago. Renames and prompts are followed for that long.
   */
  continueWalk(
    organizationId: OrganizationId,
    listing: Listing,
    limit: number,
    walk: { start: string; after: Position },
  ): Promise<ThreadPage | 'expired'>;
}
