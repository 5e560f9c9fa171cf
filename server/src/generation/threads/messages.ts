import type { FoundPassage } from '../../domain/document.ts';
import type { Findings } from '../../domain/library.ts';
import type { ReplyEvent, ReplyRequest } from '../model.ts';
import type { PassageStore } from '../retrieval/search.ts';

/** Work that takes the processor for milliseconds at a time. */
export type Task =
  /** The embedded model's whole reply. */
  | { readonly kind: 'reply'; readonly request: Omit<ReplyRequest, 'signal'> }
  | { readonly kind: 'corroborate'; readonly draft: string; readonly passages: readonly FoundPassage[] }
  | {
      readonly kind: 'search';
      readonly request: Pick<ReplyRequest, 'organizationId' | 'accountId'>;
      readonly question: string;
      readonly limit: number;
    };

export type TaskEvent = ReplyEvent | { readonly type: 'findings'; readonly findings: Findings };

/** The module with an `openPassages(location)` that gives a thread its own connection to the documents. */
export interface PassageSource {
  readonly module: string;
  readonly location: string;
}

/** A read that a thread leaves to the main thread because it has no connection to the store, or the connection failed. */
export interface StoreCall {
  /** Unique within the thread: an answer may come after its task was aborted. */
  readonly id: number;
  readonly method: keyof PassageStore;
  readonly args: readonly unknown[];
}

export type ToThread =
  | { readonly type: 'task'; readonly task: Task }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'abort' };

export interface Failure {
  readonly message: string;
  /** Set for a `ModelError`. */
  readonly transient?: boolean;
  readonly retryAfterMs?: number | undefined;
}

export type FromThread =
  /** Several at once: sending a message costs more than its content. */
  | { readonly type: 'events'; readonly events: readonly TaskEvent[] }
  | ({ readonly type: 'call' } & StoreCall)
  /** The last events. The task has ended: the thread is free. */
  | { readonly type: 'end'; readonly events: readonly TaskEvent[]; readonly failure: Failure | undefined };
