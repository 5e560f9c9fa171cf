import { shortened } from '../../../domain/text.ts';

/** Enough to find the first sentence; the rest of a paragraph is not shown. */
const paragraphLengthMax = 1_000;
const descriptionLengthMax = 200;

/** Turns a model's reasoning into steps: the first sentence of each paragraph. */
export class ReasoningSteps {
  #paragraph = '';
  #lineIsEmpty = true;

  /** Adds a piece and returns the steps that it completes. */
  add(piece: string): string[] {
    const steps: string[] = [];
    const lines = piece.split('\n');
    for (const [index, line] of lines.entries()) {
      if (index > 0) {
        if (this.#lineIsEmpty) steps.push(...this.end());
        else this.#keep('\n');
        this.#lineIsEmpty = true;
      }
      this.#keep(line);
      if (line.trim() !== '') this.#lineIsEmpty = false;
    }
    return steps;
  }

  /** Ends the last paragraph and returns its step. */
  end(): string[] {
    this.#lineIsEmpty = true;
    const paragraph = this.#paragraph;
    this.#paragraph = '';
    if (paragraph.trim() === '') return [];
    const step = shortened(firstSentence(paragraph), descriptionLengthMax);
    return step === '' ? [] : [step];
  }

  #keep(text: string): void {
    this.#paragraph += text.slice(0, Math.max(0, paragraphLengthMax - this.#paragraph.length));
  }
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

function firstSentence(paragraph: string): string {
  const plain = paragraph
    .replace(/^[\s#>*•-]+/, '')
    .replaceAll('**', '')
    .replace(/\s+/g, ' ');
  for (const { segment } of sentences.segment(plain)) {
    if (segment.trim() !== '') return segment;
  }
  return '';
}
