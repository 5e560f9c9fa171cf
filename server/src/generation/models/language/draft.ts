import { setImmediate as turn } from 'node:timers/promises';
import { type DraftEvent, ModelError, type ReplyRequest } from '../../model.ts';
import { KeepableText } from './keepable-text.ts';
import type { PassageSearches } from './passage-searches.ts';
import { instructionsFor, messagesFor } from './prompt.ts';
import { ReasoningSteps } from './reasoning-steps.ts';
import type { LanguageSdk, ModelPart } from './sdk.ts';

/** Every progress update stores all steps, so their number is limited. */
const reasoningStepsMax = 50;
/** How long a burst of small pieces may block the event loop. */
const stretchMs = 5;

interface DraftSetting {
  readonly request: ReplyRequest;
  /** Aborts with the request, and when the reader stops reading. */
  readonly signal: AbortSignal;
  readonly searches: PassageSearches;
  readonly sdk: LanguageSdk;
  readonly apiKey?: string | undefined;
  readonly replyLengthMax: number;
}

/** One conversation with the provider: up to five requests, with searches between them. */
export async function* draftEvents(setting: DraftSetting, withTools: boolean): AsyncGenerator<DraftEvent> {
  const { request, signal, searches, sdk, apiKey, replyLengthMax } = setting;
  const text = new KeepableText(apiKey);
  const reasoningText = new KeepableText(apiKey);
  const reasoning = new ReasoningSteps();
  let reasoningSteps = 0;
  let shown = '';
  let needsGap = false;

  function* take(part: ModelPart): Generator<DraftEvent> {
    switch (part.type) {
      case 'text': {
        if (part.text === '') return;
        // Text after a search starts a new paragraph.
        const gap = needsGap ? '\n\n' : '';
        needsGap = false;
        return yield* show(text.add(`${gap}${part.text}`));
      }
      case 'reasoning':
        if (reasoningSteps >= reasoningStepsMax) return;
        return yield* reason(reasoning.add(reasoningText.add(part.text)));
      case 'reasoning-end':
        yield* reason(reasoning.add(reasoningText.end()));
        return yield* reason(reasoning.end());
      case 'searched':
        needsGap = shown.trim() !== '';
        return;
      case 'finish':
        return yield* finish(part.reason);
    }
  }

  function* show(piece: string): Generator<DraftEvent> {
    if (piece === '') return;
    shown += piece;
    if (shown.length > replyLengthMax) {
      throw new ModelError(`The model wrote more than ${replyLengthMax} characters.`, { transient: false });
    }
    yield { type: 'text', text: piece };
  }

  function* reason(descriptions: readonly string[]): Generator<DraftEvent> {
    for (const description of descriptions) {
      if (reasoningSteps++ < reasoningStepsMax) yield { type: 'step', description };
    }
  }

  function* finish(why: string): Generator<DraftEvent> {
    yield* show(text.end());
    if (/\p{L}|\p{N}/u.test(shown.replace(/\[[^[\]\p{L}]*\]/gu, ''))) {
      if (why !== 'length') return;
      // A truncated answer is kept and marked as such.
      yield { type: 'text', text: ' …' };
      return yield { type: 'step', description: 'The model reached its length limit' };
    }
    if (why === 'content-filter') {
      throw new ModelError('The provider withheld the answer.', { transient: false });
    }
    throw new ModelError('The model gave no text.', { transient: true });
  }

  const parts = sdk.stream({
    instructions: instructionsFor(searches.passages, withTools),
    messages: messagesFor(request.conversation),
    abortSignal: signal,
    search: withTools ? (query) => searches.further(query) : undefined,
  });
  let turnedAt = performance.now();
  try {
    for await (const part of parts) {
      yield* searches.take();
      yield* take(part);
      // Buffered parts arrive without a turn of the event loop.
      if (performance.now() - turnedAt < stretchMs) continue;
      await turn();
      turnedAt = performance.now();
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
