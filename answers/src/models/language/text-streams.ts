import { counted, shortened } from '../../../../runtime/src/pure/text.ts';
import { type DraftEvent, ModelError } from '../../port/model.ts';
import { splitProse } from '../../reading/passage-parts.ts';

/** Shorter keys are placeholders for local servers, such as "ollama" or "EMPTY". */
const secretLengthMin = 8;
/** No text contains it once NULs are removed. */
const noSecret = '\0';

/**
 * Makes a stream of text safe to store and show: removes NULs, replaces lone surrogates, and redacts the secret even if
 * it is split across pieces. What may be the start of the secret or of a surrogate pair is held back until the next piece.
 */
export function storableText(secret = '') {
  const hidden = secret.length >= secretLengthMin ? secret : noSecret;
  const mayContinue = (end: string) => hidden.startsWith(end) || /^[\ud800-\udbff]$/.test(end);
  let held = '';
  return {
    add(piece: string): string {
      const text = (held + piece.replaceAll('\0', '')).replaceAll(hidden, '[redacted]');
      let from = Math.max(0, text.length - Math.max(1, hidden.length - 1));
      while (from < text.length && !mayContinue(text.slice(from))) from++;
      held = text.slice(from);
      return text.slice(0, from).toWellFormed();
    },

    /** The text still held back. */
    end: () => held.toWellFormed(),
  };
}

/** Makes a complete text safe to store and show. */
export function storable(text: string, secret: string | undefined): string {
  const stream = storableText(secret);
  return stream.add(text) + stream.end();
}

/** Enough to find the first sentence; the rest of a paragraph is not shown. */
const paragraphLengthMax = 1_000;
const descriptionLengthMax = 200;

/** Turns pieces of a model's reasoning into the steps that they complete: the first sentence of each paragraph. */
export function reasoningSteps(): (piece: string) => string[] {
  let open = '';
  return (piece) => {
    const paragraphs = (open + piece).split(/\n\s*\n/);
    open = paragraphs.pop()!;
    // The line break at the end of a long paragraph may be half of the next gap.
    const lineEnd = /\n\s*$/.exec(open.slice(-paragraphLengthMax))?.[0] ?? '';
    if (open.length > paragraphLengthMax) open = open.slice(0, paragraphLengthMax) + lineEnd;
    return paragraphs.flatMap(summarizeParagraph);
  };
}

function summarizeParagraph(paragraph: string): string[] {
  const plain = paragraph.slice(0, paragraphLengthMax).replace(/^[\s#>*•-]+|\*\*/g, '');
  const [sentence] = splitProse(plain);
  return sentence === undefined ? [] : [shortened(sentence, descriptionLengthMax)];
}

/** Ends the last paragraph of a model's reasoning. */
export const endOfReasoning = '\n\n';

/** The tag at the start of a text. A little white space may precede it. */
const opening = /^\s{0,32}<think>/;
const partOfOpening = /^\s{0,32}(?:<(?:t(?:h(?:i(?:nk?)?)?)?)?)?$/;
const closing = '</think>';

/** Finds the reasoning that many local servers leave in a model's text, between tags at its start. */
export class TaggedReasoning {
  #type: 'text' | 'reasoning' | undefined;
  /** The start of what may become a tag. */
  #held = '';

  /** Adds a piece and returns the reasoning and the text that it completes. */
  add(piece: string): [reasoning: string, text: string] {
    this.#held += piece;
    if (this.#type === undefined) {
      if (partOfOpening.test(this.#held)) return ['', ''];
      this.#type = opening.test(this.#held) ? 'reasoning' : 'text';
      this.#held = this.#held.replace(opening, '');
    }
    if (this.#type === 'text') return ['', this.#release()];
    const end = this.#held.indexOf(closing);
    if (end === -1) return [this.#release(Math.max(0, this.#held.length - closing.length + 1)), ''];
    this.#type = 'text';
    const reasoning = this.#release(end);
    return [reasoning + endOfReasoning, this.#release().slice(closing.length)];
  }

  end(): [reasoning: string, text: string] {
    return this.#type === 'reasoning' ? [this.#held + endOfReasoning, ''] : ['', this.#held];
  }

  #release(length = this.#held.length): string {
    const released = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return released;
  }
}

/** Every progress update stores all steps, so their number is limited. */
const reasoningStepsMax = 50;

export type DraftText = ReturnType<typeof draftText>;

/** The text and the reasoning of a draft, over all answers of the model. */
export function draftText(secret: string | undefined, lengthMax: number) {
  const answer = storableText(secret);
  const thoughts = storableText(secret);
  const stepsIn = reasoningSteps();
  let stepCount = 0;
  let shown = '';
  let gap = '';

  function* show(piece: string): Generator<DraftEvent> {
    if (piece === '') return;
    shown += piece;
    if (shown.length > lengthMax) {
      const limit = counted(lengthMax, 'character');
      throw new ModelError(`The model wrote more than ${limit}.`, { transient: false });
    }
    yield { type: 'text', text: piece };
  }

  return {
    *add([thought, text]: [reasoning: string, text: string]): Generator<DraftEvent> {
      const steps = thought === '' || stepCount >= reasoningStepsMax ? [] : stepsIn(thoughts.add(thought));
      for (const description of steps) {
        if (stepCount++ < reasoningStepsMax) yield { type: 'step', description };
      }
      if (text === '') return;
      yield* show(answer.add(gap + text));
      gap = '';
    },

    /** Text after a search starts a new paragraph. */
    startParagraph(): void {
      gap = shown.trim() === '' ? '' : '\n\n';
    },

    *finish(why: string): Generator<DraftEvent> {
      yield* show(answer.end());
      if (/\p{L}|\p{N}/u.test(shown.replace(/\[[^[\]\p{L}]*\]/gu, ''))) {
        if (why !== 'length') return;
        // A truncated answer is kept and marked as such.
        yield { type: 'text', text: ' …' };
        return yield { type: 'step', description: 'The model reached its length limit' };
      }
      if (why === 'content-filter') {
        throw new ModelError('The provider withheld the answer.', { transient: false });
      }
      throw new ModelError('The model returned no text.', { transient: true });
    },
  };
}
