import { evenSpaces } from './blocks.ts';
import { sentenceEnds } from './sentence-ends.ts';
import { cellsOf, isTableRule } from './table.ts';

/** A part of a passage's text. `lines` are its lines, unchanged. */
export type Part = { readonly lines: readonly string[] } & (
  | { readonly kind: 'prose'; readonly sentences: readonly string[] }
  /** The items, without bullets and with their numbers. */
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | {
      readonly kind: 'table';
      readonly header: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  /** The lines between the fences. */
  | { readonly kind: 'code'; readonly code: readonly string[] }
);

const marker = /^\s{0,40}(?:[-*•‣–]|\d{1,4}[.)]) /;
const bullet = /^\s*[-*•‣–] /;
const fence = /^`{3,}$/;

/** The paragraphs, lists, tables and code blocks of a passage's text, in order, without the empty lines between them. */
export function partsOf(text: string): Part[] {
  const lines = text.split(/\r\n?|\n/);
  const lastFence = new Map(lines.flatMap((line, at) => (fence.test(line) ? [[line, at] as const] : [])));
  const parts: Part[] = [];
  let at = 0;
  while (at < lines.length) {
    const from = at;
    const line = lines[at]!;
    const upTo = (continues: (line: string, at: number) => boolean) => {
      while (at < lines.length && continues(lines[at]!, at)) at += 1;
      return lines.slice(from, at);
    };
    const startsTable = (at: number) => lines[at]!.startsWith('|') && isTableRule(lines[at + 1] ?? '');
    const startsCode = (line: string, at: number) => at < (lastFence.get(line) ?? -1);
    if (line.trim() === '') {
      at += 1;
    } else if (startsCode(line, at)) {
      at = lines.indexOf(line, at + 1) + 1;
      parts.push({ kind: 'code', lines: lines.slice(from, at), code: lines.slice(from + 1, at - 1) });
    } else if (startsTable(at)) {
      const own = upTo((row) => row.startsWith('|'));
      parts.push({
        kind: 'table',
        lines: own,
        header: cellsOf(own[0]!),
        rows: own.slice(2).map(cellsOf),
      });
    } else if (marker.test(line)) {
      const own = upTo((item) => marker.test(item));
      parts.push({
        kind: 'list',
        lines: own,
        items: own.map((item) => evenSpaces(item.replace(bullet, ''))),
      });
    } else {
      const own = upTo(
        (next, at) => next.trim() !== '' && !marker.test(next) && !startsCode(next, at) && !startsTable(at),
      );
      parts.push({ kind: 'prose', lines: own, sentences: sentencesOfProse(own.join('\n')) });
    }
  }
  return parts;
}

function sentencesOfProse(prose: string): string[] {
  let start = 0;
  return sentenceEnds(prose)
    .map((end) => {
      const sentence = evenSpaces(prose.slice(start, end));
      start = end;
      return sentence;
    })
    .filter((sentence) => sentence !== '');
}
