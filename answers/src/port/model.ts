import { counted } from '../../../runtime/src/pure/text.ts';
import type { Findings, FoundPassage } from './documents.ts';

export interface ConversationTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** A document that supports a reply. */
export interface Source {
  readonly id: string;
  readonly title: string;
  readonly url: string | null;
  readonly snippet: string;
}

/** The result of checking a reply's statements against the passages it was written from. */
export interface Verdict {
  readonly statements: number;
  readonly found: number;
  /** In the order of the text. A long reply may have more statements than are listed. */
  readonly checked: readonly CheckedStatement[];
}

export interface CheckedStatement {
  /** Its position in the reply, in UTF-16 units: `text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
  /** The numbers of the sources that support it, from 1. Empty if none does. */
  readonly sources: readonly number[];
}

/** A request to a model. `signal` aborts when the reply is cancelled, taken over or past its deadline. */
export interface ReplyRequest {
  readonly organizationId: string;
  readonly accountId: string | null;
  /** The messages so far. The last one is the prompt to answer. */
  readonly conversation: readonly ConversationTurn[];
  /** 1 for the first attempt; it grows with every transient failure. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** The events of a model, in order. */
export type ReplyEvent =
  | { readonly type: 'step'; readonly description: string }
  /** A piece to append to the text. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'corroborating' }
  /** Replaces the text so far. */
  | { readonly type: 'revision'; readonly text: string }
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'verdict'; readonly verdict: Verdict }
  /** The documents do not answer the prompt. */
  | { readonly type: 'unanswered' };

/** Generates replies. Throws a `ModelError` if the kind of failure is known. */
export interface Model {
  /** Shown as the message's `model`. */
  readonly name: string;
  reply(request: ReplyRequest): AsyncIterable<ReplyEvent>;
  /** Releases the model's resources. Call it after the last reply and before the store is closed. */
  close?(): Promise<void>;
}

/** The events of a draft. In its text, `[n]` cites the n-th passage so far, counted from 1. */
export type DraftEvent =
  | Extract<ReplyEvent, { readonly type: 'step' | 'text' }>
  | { readonly type: 'passages'; readonly passages: readonly FoundPassage[] };

/** Generates drafts: replies that have not been checked against their passages yet. */
export interface Drafter {
  readonly name: string;
  draft(request: ReplyRequest): AsyncIterable<DraftEvent>;
}

/** Why a model failed. The message is logged, so it contains no secret and nothing of the conversation. */
export class ModelError extends Error {
  /** Whether another attempt may succeed, as after a network error or too many requests. */
  readonly transient: boolean;
  /** How long the provider asks us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, kind: { transient: boolean; retryAfterMs?: number | undefined }) {
    super(message);
    this.name = 'ModelError';
    this.transient = kind.transient;
    this.retryAfterMs = kind.retryAfterMs;
  }
}

/** A model's access to the documents. A search retries an unavailable store until the signal aborts. */
export interface PassageSearch {
  search(
    organizationId: string,
    accountId: string | null,
    question: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<Findings>;
}

/** The step of a search over this many passages. */
export function searchStep(passages: number): string {
  return passages === 0 ? 'Looking for documents' : `Searching ${counted(passages, 'passage')}`;
}
