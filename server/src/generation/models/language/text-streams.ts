import { shortened } from '../../../domain/text.ts';
import { sentencesOfProse } from '../../reading/passage-parts.ts';

const redaction = '[redacted]';

/** Shorter keys are placeholders for local servers, such as "ollama" or "EMPTY". */
const secretLengthMin = 8;
/** No text contains it once NULs are removed. */
const noSecret = '\0';

/**
 * Makes a stream of text safe to store and show: removes NULs, replaces lone surrogates, and redacts the secret even if
 * it is split across pieces. What may be the start of the secret or of a surrogate pair is held back until the next piece.
 */
export class StorableText {
  readonly #secret: string;
  #held = '';

  constructor(secret = '') {
    this.#secret = secret.length >= secretLengthMin ? secret : noSecret;
  }

  add(piece: string): string {
    const secret = this.#secret;
    const text = (this.#held + piece.replaceAll('\0', '')).replaceAll(secret, redaction);
    const mayContinue = (end: string) => secret.startsWith(end) || /^[\ud800-\udbff]$/.test(end);
    let from = Math.max(0, text.length - Math.max(1, secret.length - 1));
    while (from < text.length && !mayContinue(text.slice(from))) from++;
    this.#held = text.slice(from);
    return text.slice(0, from).toWellFormed();
  }

  /** The text still held back. */
  end(): string {
    return this.#held.toWellFormed();
  }
}

/** Makes a complete text safe to store and show. */
export function storable(text: string, secret: string | undefined): string {
  const stream = new StorableText(secret);
  return stream.add(text) + stream.end();
}

/** Enough to find the first sentence; the rest of a paragraph is not shown. */
const paragraphLengthMax = 1_000;
const descriptionLengthMax = 200;

/** Turns a model's reasoning into steps: the first sentence of each paragraph. */
export class ReasoningSteps {
  #open = '';

  /** Adds a piece and returns the steps that it completes. */
  add(piece: string): string[] {
    const paragraphs = (this.#open + piece).split(/\n\s*\n/);
    const open = paragraphs.pop()!;
    // The line break at the end of a long paragraph may be half of the next gap.
    const lineEnd = /\n\s*$/.exec(open.slice(-paragraphLengthMax))?.[0] ?? '';
    this.#open = open.length > paragraphLengthMax ? open.slice(0, paragraphLengthMax) + lineEnd : open;
    return paragraphs.flatMap(stepsOf);
  }
}

function stepsOf(paragraph: string): string[] {
  const plain = paragraph.slice(0, paragraphLengthMax).replace(/^[\s#>*•-]+|\*\*/g, '');
  const [sentence] = sentencesOfProse(plain);
  return sentence === undefined ? [] : [shortened(sentence, descriptionLengthMax)];
}

export interface ModelText {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** Ends the last paragraph of a model's reasoning. */
export const endOfReasoning: ModelText = { type: 'reasoning', text: '\n\n' };

/** The tag at the start of a text. A little white space may precede it. */
const opening = /^\s{0,32}<think>/;
const partOfOpening = /^\s{0,32}(?:<(?:t(?:h(?:i(?:nk?)?)?)?)?)?$/;
const closing = '</think>';

/** Finds the reasoning that many local servers leave in a model's text, between tags at its start. */
export class TaggedReasoning {
  #type: ModelText['type'] | undefined;
  /** The start of what may become a tag. */
  #held = '';

  *take(piece: string): Generator<ModelText> {
    this.#held += piece;
    if (this.#type === undefined) {
      if (partOfOpening.test(this.#held)) return;
      this.#type = opening.test(this.#held) ? 'reasoning' : 'text';
      this.#held = this.#held.replace(opening, '');
    }
    const end = this.#held.indexOf(closing);
    if (this.#type === 'reasoning' && end !== -1) {
      yield { type: 'reasoning', text: this.#held.slice(0, end) };
      yield endOfReasoning;
      this.#type = 'text';
      this.#held = this.#held.slice(end + closing.length);
    }
    const keep = this.#type === 'text' ? 0 : closing.length - 1;
    const shown = Math.max(0, this.#held.length - keep);
    yield { type: this.#type, text: this.#held.slice(0, shown) };
    this.#held = this.#held.slice(shown);
  }

  *end(): Generator<ModelText> {
    yield { type: this.#type ?? 'text', text: this.#held };
    if (this.#type === 'reasoning') yield endOfReasoning;
  }
}
