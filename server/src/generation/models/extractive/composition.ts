import { withMarks } from '../../corroboration/citation-mark.ts';
import type { Selection } from './selection.ts';

/** The selected sentences, each with its mark; one piece of Markdown per paragraph or list line. */
export function compose({ units, told }: Selection, mark: number): string[] {
  const pieces: string[] = [];
  let wasItem = false;
  for (const [place, at] of told.entries()) {
    const { text, list } = units[at]!;
    const neighbours = [told[place - 1], told[place + 1]].map((other) => units[other ?? -1]);
    // A line that stands alone reads better as a sentence.
    const isItem =
      list !== undefined &&
      (neighbours.some((other) => other?.list === list) || neighbours[0]?.text.endsWith(':') === true);
    const joint = pieces.length === 0 ? '' : isItem || wasItem ? '\n' : ' ';
    const gap = pieces.length > 0 && isItem !== wasItem ? '\n' : '';
    const sentence = list !== undefined && !isItem ? asSentence(text) : text;
    const marked = text.endsWith(':') ? text : withMarks(sentence, [mark]);
    pieces.push(`${joint}${gap}${isItem ? '- ' : ''}${marked}`);
    wasItem = isItem;
  }
  return pieces;
}

function asSentence(line: string): string {
  return /[.!?…]["”’»)]*$/.test(line) ? line : `${line}.`;
}
