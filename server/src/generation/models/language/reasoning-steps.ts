import { shortened } from '../../../domain/text.ts';
import { sentencesOfProse } from '../../reading/passage-parts.ts';

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

  /** Ends the last paragraph and returns its step. */
  end(): string[] {
    const open = this.#open;
    this.#open = '';
    return stepsOf(open);
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
