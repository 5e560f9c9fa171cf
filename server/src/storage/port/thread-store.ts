import type { PersonAuthority } from '../../domain/authority.ts';
import type { Position } from '../../domain/cursor.ts';
import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { AssistantMessage, Message, ThreadState } from '../../domain/message.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { AuditedMethod, AuthorizedMethod, InOrganization } from './log-store.ts';

export interface NewThread
  extends Pick<Thread, 'id' | 'title' | 'accountId' | 'secondaryId'>,
    Pick<NewReply, 'replyId' | 'replyDeadlineMs' | 'traceId'> {
  readonly prompt: string;
  readonly messageId: MessageId;
  /** Claims the reply in the same commit for a worker of this process, which draws a random token. */
  readonly claim?: { readonly token: number; readonly leaseMs: number } | undefined;
  readonly idempotency?: { readonly key: string; readonly bodyHash: string; readonly keepMs: number };
}

/** Who reads: the user, or (null) the organization's service identity. */
export type Reader = Pick<Principal, 'userId'>;

/** The threads that the reader may read: the user's own and all published ones, or (null) published ones only. */
export interface Listing extends Reader {
  /** Only the user's own, published or not. */
  readonly ownOnly?: true;
  readonly accountId?: string;
}

export interface NewReply {
  /** Null: reply to the last prompt again. */
  readonly prompt: NewPrompt | null;
  readonly replyId: MessageId;
  readonly replyDeadlineMs: number;
  readonly traceId: string;
  readonly budget: ThreadBudget;
}

export interface NewPrompt {
  readonly messageId: MessageId;
  readonly content: string;
  /** The prompt that this one is an edited version of: the last of the thread. */
  readonly replaces?: MessageId;
}

/** How much a thread may hold after adding a prompt, or before adding another reply to the last one. */
export interface ThreadBudget {
  /** Including the reply to be written. */
  readonly messagesMax: number;
  /** Of prompts and replies with their steps, sources and verdicts, in UTF-8, without the reply to be written. */
  readonly bytesMax: number;
}

export interface WholeThread {
  readonly thread: Thread;
  readonly version: number;
  /** In order of creation. */
  readonly messages: readonly Message[];
}

/** A snapshot of a thread and its latest reply, which is its last message. */
export interface ThreadHead extends Omit<WholeThread, 'messages'> {
  readonly messageCount: number;
  readonly latest: AssistantMessage;
}

export interface ListedThread {
  readonly thread: Thread;
  /** Its position when the walk started. A rename or a prompt may have moved the thread since. */
  readonly position: Position;
}

export interface ThreadPage {
  readonly rows: ListedThread[];
  /** Whether another row follows. */
  readonly more: boolean;
}

export interface Threads extends ThreadReads, Walks {
  /**
   * Creates the thread, its user message and its assistant message (`in_progress`) in one commit. An idempotency key that
   * the person sent within `keepMs` creates nothing: the same body returns the ids from then, another is `key-reused`. With
   * `claim`, a created reply is held as if it had been claimed at once.
   */
  createThread: AuthorizedMethod<
    [thread: NewThread],
    | { outcome: 'created'; createdAt: number }
    | { outcome: 'repeated'; threadId: ThreadId; messageId: MessageId; replyId: MessageId; createdAt: number }
    | { outcome: 'key-reused' },
    PersonAuthority
  >;
  /**
   * One snapshot, even of a deleted thread. With a reader, only a thread that they may read (their own or published, not
   * deleted), and with `bytesMax` only if its messages have no more bytes. Otherwise no message is loaded, so that a thread
   * that they may not read takes as long as one that does not exist. A store may return the same object again while nothing
   * has changed, so that callers can cache what they derive from it.
   */
  getThread: InOrganization<
    [threadId: ThreadId, reader?: Reader & { readonly bytesMax?: number }],
    WholeThread | undefined
  >;
  /**
   * Renames if the person created the thread and it is not deleted; otherwise changes nothing and returns the thread.
   * The new activity is later than that of everything committed before.
   */
  renameThread: AuthorizedMethod<
    [threadId: ThreadId, title: string],
    { outcome: 'renamed' | 'refused'; thread: Thread } | { outcome: 'missing' },
    PersonAuthority
  >;
  /**
   * Marks the thread as deleted and cancels a running reply in the same commit, under the same conditions as
   * `renameThread`. Returns the replies that it ended.
   */
  deleteThread: AuditedMethod<
    [threadId: ThreadId],
    | { outcome: 'deleted'; cancelled: MessageId[] }
    | { outcome: 'refused'; thread: Thread }
    | { outcome: 'missing' },
    PersonAuthority
  >;
  /** Takes back a deletion by the creator within `withinMs`. A cancelled reply stays cancelled. */
  restoreThread: AuditedMethod<
    [threadId: ThreadId, withinMs: number],
    'restored' | 'missing',
    PersonAuthority
  >;
  /**
   * Adds a prompt and its reply, or another reply to the last prompt, under the same conditions as `renameThread`. A
   * prompt is activity, like a rename; another reply is not. A reply that was superseded is no longer listed as unanswered.
   * `running`: one reply at a time. `outdated`: the prompt to replace is not the last one. `full`: it would exceed the
   * budget, even with concurrent calls. `missing`: the thread is deleted.
   */
  addReply: AuthorizedMethod<
    [threadId: ThreadId, reply: NewReply],
    | { outcome: 'added' | 'running' | 'outdated' | 'missing' }
    | { outcome: 'full'; exceeded: 'messages' | 'bytes' }
    | { outcome: 'refused'; thread: Thread },
    PersonAuthority
  >;
  /** Whoever created the thread. Does not count as activity. `missing`: the thread is deleted. */
  setThreadPublished: AuditedMethod<[threadId: ThreadId, published: boolean], 'done' | 'missing'>;
}

/** Reads that load few messages, or none. */
export interface ThreadReads {
  /** The thread without its messages; deleted threads included. */
  findThread: InOrganization<[threadId: ThreadId], Thread | undefined>;
  /** What `getThread` would return, without the messages before the latest reply, which has its details. */
  getThreadHead: InOrganization<[threadId: ThreadId], ThreadHead | undefined>;
  /**
   * The messages after the first `skip`, replies with their details: at most `limit`, and no further one once they hold
   * `bytesMax` bytes.
   */
  listMessages: InOrganization<
    [threadId: ThreadId, part: { readonly skip: number; readonly limit: number; readonly bytesMax: number }],
    Message[]
  >;
  /**
   * A number that grows with every change of the thread or its messages that a reader can see, and with nothing else, such
   * as claims of a reply. Undefined if the reader may not read the thread. Reads no message.
   */
  threadVersion: InOrganization<[threadId: ThreadId, reader: Reader], number | undefined>;
  /** The running reply; null if there is none, undefined if the reader may not read the thread. */
  findRunningReply: InOrganization<[threadId: ThreadId, reader: Reader], MessageId | null | undefined>;
  /**
   * Accounts that start with `prefix` and have threads of the user or published threads, ordered by id. The cost is
   * bounded: if very many accounts have lost all their threads, some accounts may be missing.
   */
  listAccounts: InOrganization<[userId: UserId, prefix: string, limit: number], string[]>;
}

/** Lists threads page by page. */
export interface Walks {
  /** The first page of a walk, its start, and the current size of the listing. The cost does not grow with the size. */
  beginWalk: InOrganization<[listing: Listing, limit: number], ThreadPage & { start: string; size: number }>;
  /**
   * A later page: the threads that existed at `start`, in the order of that time, without those deleted or hidden since.
   * `expired`: the walk started longer than `walkMsMax` ago. Renames and prompts are tracked for that long.
   */
  continueWalk: InOrganization<
    [listing: Listing, limit: number, walk: { start: string; after: Position }],
    ThreadPage | 'expired'
  >;
}

/** A thread that was added, changed or deleted, or whose reply has ended, since it was last indexed. */
export interface UnindexedThread {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
  /** Differs if the thread has changed again. */
  readonly stamp: number;
}

/** What the index says about a thread. */
export interface IndexedThread {
  readonly thread: Thread;
  /** Of the thread. An older one does not replace a newer one. */
  readonly version: number;
  readonly state: ThreadState;
  /** The beginning of its latest reply, in plain text. */
  readonly line: string;
  /** The words of its title and messages, each once. They consist of letters and digits. */
  readonly terms: readonly string[];
}

/** What a person looks for among the threads that they may read. */
export interface ThreadQuery {
  readonly userId: UserId;
  /** `mine`: the user's own threads. `published`: all published ones. Undefined: both. */
  readonly scope?: 'mine' | 'published' | undefined;
  readonly accountId?: string | undefined;
  readonly state?: ThreadState | undefined;
  /** The earliest activity. */
  readonly since?: number | undefined;
  /** Words of a thread, all of which it must contain. */
  readonly terms: readonly string[];
  /** A word of the thread must be this term or start with this text, which may not be finished. */
  readonly last?: { readonly term: string; readonly prefix: string } | undefined;
}

export interface FoundThread {
  readonly thread: Thread;
  /** Continues the search after this thread. */
  readonly place: string;
}

/** One line about a thread in a list. */
export interface ThreadSummary {
  readonly id: ThreadId;
  readonly state: ThreadState;
  /** The address of the member who created it; null if they have left. */
  readonly author: string | null;
  /** The beginning of the latest finished reply; empty if there is none. */
  readonly line: string;
}

/** The index of titles and messages. It follows the threads within about a second, and can be built again from them. */
export interface ThreadSearch {
  /** Some threads to be indexed; organizations take turns. Each is given to one node, for half a minute. */
  takeUnindexed(limit: number): Promise<UnindexedThread[]>;
  /** Replaces what the index says about each thread; undefined removes it. Need not survive a power cut. */
  indexThreads(
    threads: readonly { readonly due: UnindexedThread; readonly entry: IndexedThread | undefined }[],
  ): Promise<void>;
  /**
   * Threads that the user may read now, most recent activity first. Reads no entry of a thread that they may not read. One
   * word costs little however many threads have it. Several words that rarely occur together cost as much as reading the
   * entries of the rarest of them.
   */
  searchThreads: InOrganization<[query: ThreadQuery, limit: number, after?: string], FoundThread[]>;
  /** In any order, without threads that do not exist. Loads no message. */
  summarizeThreads: InOrganization<[threadIds: readonly ThreadId[]], ThreadSummary[]>;
}
