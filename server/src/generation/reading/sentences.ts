import { type Part, partsOf } from './passage-parts.ts';
import { rowText } from './table.ts';

/**
 * The sentences of a text, with single spaces. A list item, a table row ('Header: cell; Header: cell') and a line of code
 * are one sentence each, and an empty line ends a sentence. Takes linear time.
 */
export function sentencesOf(text: string): string[] {
  return partsOf(text)
    .flatMap(linesOf)
    .filter((sentence) => sentence !== '');
}

function linesOf(part: Part): readonly string[] {
  switch (part.kind) {
    case 'prose':
      return part.sentences;
    case 'list':
      return part.items;
    case 'table':
      return part.rows.map((row) => rowText(part.header, row));
    case 'code':
      return part.code.map((line) => line.replace(/\s+/g, ' ').trim());
  }
}
