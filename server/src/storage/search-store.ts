import type { OrganizationId, ThreadId, UserId } from '../domain/id.ts';
import type { ThreadState } from '../domain/message.ts';
import type { Thread } from '../domain/thread.ts';

/** A thread that was added, changed or deleted, or whose reply has ended, since it was last indexed. */
export interface UnindexedThread {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
  /** Another one if the thread has changed again. */
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
  /**
   * Some threads to be indexed; organizations take turns. On several nodes, each thread is given to one of them, for half
   * a minute.
   */
  takeUnindexed(limit: number): Promise<UnindexedThread[]>;
  /** Replaces what the index says about each thread; undefined removes it. Need not survive a power cut. */
  indexThreads(
    threads: readonly { readonly due: UnindexedThread; readonly entry: IndexedThread | undefined }[],
  ): Promise<void>;
  /**
   * Threads that the user may read now, most recent activity first. A search reads no entry of a thread that they may not
   * read. One word costs little however many threads have it, and wherever they are in the order. Several words that rarely
   * occur together cost as much as reading the entries of the rarest of them.
   */
  searchThreads(
    organizationId: OrganizationId,
    query: ThreadQuery,
    limit: number,
    after?: string,
  ): Promise<FoundThread[]>;
  /** In any order, without threads that do not exist. Loads no message. */
  summarizeThreads(organizationId: OrganizationId, threadIds: readonly ThreadId[]): Promise<ThreadSummary[]>;
}
