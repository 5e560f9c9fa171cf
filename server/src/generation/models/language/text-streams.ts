import { shortened } from '../../../domain/text.ts';
import { sentencesOfProse } from '../../reading/passage-parts.ts';

const redaction = '[redacted]';

/** Shorter keys are placeholders for local servers, such as "ollama" or "EMPTY". */
const secretLengthMin = 8;

/**
 * Makes a stream of text safe to store and show: removes NULs, replaces lone surrogates, and redacts the secret even if
 * it is split across pieces. What may be the start of the secret or of a surrogate pair is held back until the next piece.
 */
export class StorableText {
  readonly #secret: string;
  #held = '';

  constructor(secret: string | undefined) {
    this.#secret = secret !== undefined && secret.length >= secretLengthMin ? secret : '';
  }

  add(piece: string): string {
    const text = this.#held + piece.replaceAll('\0', '');
    const clear = this.#secret === '' ? text : text.replaceAll(this.#secret, redaction);
    const keep = Math.max(partialSecretLength(clear, this.#secret), /[\ud800-\udbff]$/.test(clear) ? 1 : 0);
    this.#held = clear.slice(clear.length - keep);
    return clear.slice(0, clear.length - keep).toWellFormed();
  }

  /** The text still held back. */
  end(): string {
    const rest = this.#held.toWellFormed();
    this.#held = '';
    return rest;
  }
}

/** Makes a complete text safe to store and show. */
export function storable(text: string, secret: string | undefined): string {
  const stream = new StorableText(secret);
  return stream.add(text) + stream.end();
}

/** How many characters at the end of the text could be the start of the secret. */
function partialSecretLength(text: string, secret: string): number {
  if (secret === '') return 0;
  const end = text.slice(Math.max(0, text.length - secret.length + 1));
  for (let at = end.indexOf(secret[0]!); at !== -1; at = end.indexOf(secret[0]!, at + 1)) {
    if (secret.startsWith(end.slice(at))) return end.length - at;
  }
  return 0;
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
  const plain = paragraph
    .slice(0, paragraphLengthMax)
    .replace(/^[\s#>*•-]+/, '')
    .replaceAll('**', '');
  return sentencesOfProse(plain)
    .slice(0, 1)
    .map((sentence) => shortened(sentence, descriptionLengthMax));
}

export interface ModelText {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** Ends the last paragraph of a model's reasoning. */
export const endOfReasoning: ModelText = { type: 'reasoning', text: '\n\n' };

const opening = '<think>';
const closing = '</think>';
/** How much white space may precede the tag. */
const spaceMax = 32;

/** Finds the reasoning that many local servers leave in a model's text, between tags at its start. */
export class TaggedReasoning {
  #type: 'text' | 'reasoning' | undefined;
  /** The start of what may become a tag. */
  #held = '';

  *take(piece: string): Generator<ModelText> {
    if (this.#type === 'text') return yield { type: 'text', text: piece };
    this.#held += piece;
    if (this.#type === undefined) {
      const start = this.#held.trimStart();
      const isStart = this.#held.length - start.length <= spaceMax;
      if (isStart && opening.startsWith(start) && start !== opening) return;
      if (!isStart || !start.startsWith(opening)) return yield* this.end();
      this.#type = 'reasoning';
      this.#held = start.slice(opening.length);
    }
    const end = this.#held.indexOf(closing);
    const shown = end === -1 ? this.#held.length - closing.length + 1 : end;
    if (shown > 0) yield { type: 'reasoning', text: this.#held.slice(0, shown) };
    if (end === -1) {
      this.#held = this.#held.slice(Math.max(0, shown));
    } else {
      yield endOfReasoning;
      this.#held = this.#held.slice(end + closing.length);
      this.#type = undefined;
      yield* this.end();
    }
  }

  *end(): Generator<ModelText> {
    const type = this.#type ?? 'text';
    if (this.#held !== '') yield { type, text: this.#held };
    if (type === 'reasoning') yield endOfReasoning;
    this.#type = 'text';
    this.#held = '';
  }
}
