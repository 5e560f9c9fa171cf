import type { Source } from '../domain/message.ts';

/** What a model is asked. `signal` aborts when the reply was cancelled, overtaken or has run out of time. */
export interface ReplyRequest {
  readonly prompt: string;
  readonly accountId: string | null;
  readonly signal: AbortSignal;
}

/** What a model tells while it works, in order. `text` is a piece that is added to the reply so far. */
export type ReplyEvent =
  | { readonly type: 'step'; readonly description: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'corroborating' }
  | { readonly type: 'sources'; readonly sources: readonly Source[] };

/** A source of replies. A failure is thrown; its message goes to the log, never to the caller. */
export interface Model {
  /** Shown as the message's `model`. */
  readonly name: string;
  reply(request: ReplyRequest): AsyncIterable<ReplyEvent>;
}
