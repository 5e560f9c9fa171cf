import type { ConversationTurn } from '../domain/conversation.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Source, Verdict } from '../domain/message.ts';

/** A request to a model. `signal` aborts when the reply is cancelled, taken over or past its deadline. */
export interface ReplyRequest {
  readonly organizationId: OrganizationId;
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

/** The port of the models. The engine never names one: any object of this shape generates replies. */
export interface Model {
  /** Shown as the message's `model`. */
  readonly name: string;
  /** Throws a `ModelFailure` if the kind of failure is known. */
  reply(request: ReplyRequest): AsyncIterable<ReplyEvent>;
  /** Releases the model's resources. It is called after the last reply and before the store is closed. */
  close?(): Promise<void>;
}

/** Why a model failed. The message is logged, so it contains no secret and nothing of the conversation. */
export interface ModelFailure extends Error {
  readonly name: 'ModelError';
  /** Whether another attempt may succeed, as after a network error or too many requests. */
  readonly transient: boolean;
  /** How long the provider asks us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** By name and shape, because the class belongs to the models. The message of any other error may contain anything. */
export function isModelFailure(error: unknown): error is ModelFailure {
  return (
    error instanceof Error &&
    error.name === 'ModelError' &&
    typeof (error as Partial<ModelFailure>).transient === 'boolean'
  );
}
