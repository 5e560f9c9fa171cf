import type { ConversationTurn } from '../domain/conversation.ts';
import type { FoundPassage } from '../domain/document.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Source, Verdict } from '../domain/message.ts';

/** What a model is asked. `signal` aborts when the reply was cancelled, overtaken or has run out of time. */
export interface ReplyRequest {
  readonly organizationId: OrganizationId;
  readonly accountId: string | null;
  /** From the first message to the prompt that is to be answered, which is the last. */
  readonly conversation: readonly ConversationTurn[];
  /** 1 for the first; it grows with every transient failure. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

interface StepTaken {
  readonly type: 'step';
  readonly description: string;
}

/** A piece that is added to the text so far. */
interface TextAdded {
  readonly type: 'text';
  readonly text: string;
}

/** What a model tells while it works, in order. */
export type ReplyEvent =
  | StepTaken
  | TextAdded
  | { readonly type: 'corroborating' }
  /** Takes the place of all text so far. */
  | { readonly type: 'revision'; readonly text: string }
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'verdict'; readonly verdict: Verdict };

/** A source of replies. A failure is thrown, as a `ModelError` where its kind is known. */
export interface Model {
  /** Shown as the message's `model`. */
  readonly name: string;
  reply(request: ReplyRequest): AsyncIterable<ReplyEvent>;
}

/** What a draft is made of. In its text `[n]` cites the n-th of all passages told so far, counted from 1. */
export type DraftEvent =
  | StepTaken
  | TextAdded
  | { readonly type: 'passages'; readonly passages: readonly FoundPassage[] };

/** A source of drafts: replies that nobody has held against their passages yet. */
export interface Drafter {
  readonly name: string;
  draft(request: ReplyRequest): AsyncIterable<DraftEvent>;
}

/** Why a model gave no reply. The message goes to the log: it holds no secret and nothing of the conversation. */
export class ModelError extends Error {
  /** Whether the next attempt may succeed: the network, too many requests, a fault of the provider, a cut stream. */
  readonly transient: boolean;
  /** How long the provider asked us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, kind: { transient: boolean; retryAfterMs?: number | undefined }) {
    super(message);
    this.name = 'ModelError';
    this.transient = kind.transient;
    this.retryAfterMs = kind.retryAfterMs;
  }
}
