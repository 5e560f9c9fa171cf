import { withMarks } from '../../corroboration/citation-mark.ts';
import type { Selection } from './selection.ts';

/** The chosen sentences in their own order, each with its mark; one piece of Markdown per paragraph or list line. */
export function compose(selection: Selection, mark: number): string[] {
  const pieces: string[] = [];
  let wasItem = false;
  for (const [at, { text, list }] of selection.units.entries()) {
    if (!selection.chosen.has(at)) continue;
    const isItem = list !== undefined;
    const isLead = text.endsWith(':');
    const joint = pieces.length === 0 ? '' : isItem || wasItem ? '\n' : ' ';
    const gap = pieces.length > 0 && isItem !== wasItem ? '\n' : '';
    pieces.push(`${joint}${gap}${isItem ? '- ' : ''}${isLead ? text : withMarks(text, [mark])}`);
    wasItem = isItem;
  }
  return pieces;
}
