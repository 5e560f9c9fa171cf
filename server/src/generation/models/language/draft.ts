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
export class Draft {
  readonly #setting: DraftSetting;
  readonly #withTools: boolean;
  readonly #text: KeepableText;
  readonly #reasoningText: KeepableText;
  readonly #reasoning = new ReasoningSteps();
  #reasoningSteps = 0;
  #shown = '';
  #needsGap = false;

  constructor(setting: DraftSetting, withTools: boolean) {
    this.#setting = setting;
    this.#withTools = withTools;
    this.#text = new KeepableText(setting.apiKey);
    this.#reasoningText = new KeepableText(setting.apiKey);
  }

  async *events(): AsyncGenerator<DraftEvent> {
    const { signal, searches } = this.#setting;
    let turnedAt = performance.now();
    try {
      for await (const part of this.#start()) {
        yield* searches.take();
        yield* this.#take(part);
        // Buffered parts arrive without a turn of the event loop.
        if (performance.now() - turnedAt < stretchMs) continue;
        await turn();
        turnedAt = performance.now();
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  #start(): AsyncGenerator<ModelPart> {
    const { signal, request, sdk, searches } = this.#setting;
    return sdk.stream({
      instructions: instructionsFor(searches.passages, this.#withTools),
      messages: messagesFor(request.conversation),
      abortSignal: signal,
      search: this.#withTools ? (query) => searches.further(query) : undefined,
    });
  }

  *#take(part: ModelPart): Generator<DraftEvent> {
    switch (part.type) {
      case 'text':
        return yield* this.#say(part.text);
      case 'reasoning':
        if (this.#reasoningSteps >= reasoningStepsMax) return;
        return yield* this.#reason(this.#reasoning.add(this.#reasoningText.add(part.text)));
      case 'reasoning-end':
        yield* this.#reason(this.#reasoning.add(this.#reasoningText.end()));
        return yield* this.#reason(this.#reasoning.end());
      case 'searched':
        this.#needsGap = this.#shown.trim() !== '';
        return;
      case 'finish':
        return yield* this.#finish(part.reason);
    }
  }

  /** Text after a search starts a new paragraph. */
  *#say(piece: string): Generator<DraftEvent> {
    if (piece === '') return;
    const gap = this.#needsGap ? '\n\n' : '';
    this.#needsGap = false;
    yield* this.#show(this.#text.add(`${gap}${piece}`));
  }

  *#show(text: string): Generator<DraftEvent> {
    if (text === '') return;
    this.#shown += text;
    if (this.#shown.length > this.#setting.replyLengthMax) {
      const sentence = `The model wrote more than ${this.#setting.replyLengthMax} characters.`;
      throw new ModelError(sentence, { transient: false });
    }
    yield { type: 'text', text };
  }

  *#reason(descriptions: readonly string[]): Generator<DraftEvent> {
    for (const description of descriptions) {
      if (this.#reasoningSteps++ < reasoningStepsMax) yield { type: 'step', description };
    }
  }

  *#finish(reason: string): Generator<DraftEvent> {
    yield* this.#show(this.#text.end());
    if (/\p{L}|\p{N}/u.test(this.#shown.replace(/\[[^[\]\p{L}]*\]/gu, ''))) {
      if (reason === 'length') yield* this.#showLimit();
      return;
    }
    if (reason === 'content-filter') {
      throw new ModelError('The provider withheld the answer.', { transient: false });
    }
    throw new ModelError('The model gave no text.', { transient: true });
  }

  /** A truncated answer is kept and marked as such. */
  *#showLimit(): Generator<DraftEvent> {
    yield { type: 'text', text: ' …' };
    yield { type: 'step', description: 'The model reached its length limit' };
  }
}
