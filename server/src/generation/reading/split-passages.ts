import type { PassageText } from '../../domain/document.ts';
import type { Block } from './blocks.ts';
import { type Section, sectionsOf, type TextBlock } from './sections.ts';
import { sentenceEnds } from './sentence-ends.ts';
import { cellsOf, rowText } from './table.ts';
import { countWords } from './words.ts';

const wordsMin = 60;
const wordsMax = 180;
const wordsAimedAt = 150;
const introductionWordsMax = 60;
/** Shorter than a passage, even if every second character is a space. */
const cutLengthMax = 300;
const pieceLengthMax = 2_000;

/** A piece that is not cut further. `joint` is put between it and the unit before it in the same passage. */
interface Unit {
  readonly text: string;
  readonly words: number;
  readonly joint: string;
  /** Put around the units of a table or code block, in every passage that holds some of them. */
  readonly frame?: { readonly before: string; readonly after: string };
}

/** Units that stay in one passage. */
type Group = readonly Unit[];

/**
 * Splits a document into passages of about 60 to 180 words. No passage crosses a heading, and only a sentence that is
 * longer than a passage is cut. The paragraph that introduces a list stays with it, or with its first item if the list is
 * too long.
 */
export function splitPassages(blocks: readonly Block[], title: string): PassageText[] {
  return sectionsOf(blocks, title).flatMap((section) =>
    pack(groupsOf(section))
      .map(joined)
      .filter((text) => text !== '')
      .map((text) => ({
        heading: section.heading,
        text: section.term === '' ? text : `${section.term}\n${text}`,
      })),
  );
}

/** Fills passages evenly: a section of 200 words becomes two of 100, not one of 180 and a rest. */
function pack(groups: readonly Group[]): Group[] {
  const total = wordsIn(groups.flat());
  const aim = total <= wordsMax ? wordsMax : total / Math.ceil(total / wordsAimedAt);
  const passages: Group[][] = [];
  let open: Group[] = [];
  let words = 0;
  for (const group of groups) {
    const more = wordsIn(group);
    const isFull = words + more > wordsMax || (words >= wordsMin && words + more / 2 > aim);
    if (open.length > 0 && isFull) {
      passages.push(open);
      open = [];
      words = 0;
    }
    open.push(group);
    words += more;
  }
  const previous = passages.at(-1);
  const isRest = words < wordsMin && previous !== undefined && wordsIn(previous.flat()) + words <= wordsMax;
  if (isRest) passages[passages.length - 1] = [...previous, ...open];
  else passages.push(open);
  return passages.map((groups) => groups.flat());
}

function joined(units: Group): string {
  const parts: string[] = [];
  for (const [index, { text, joint, frame }] of units.entries()) {
    const before = units[index - 1];
    if (index > 0) parts.push(joint);
    if (frame !== undefined && frame !== before?.frame) parts.push(frame.before);
    parts.push(text);
    if (frame !== undefined && frame !== units[index + 1]?.frame) parts.push(frame.after);
  }
  return parts.join('').trim();
}

function wordsIn(units: Group): number {
  return units.reduce((sum, unit) => sum + unit.words, 0);
}

function groupsOf({ blocks }: Section): Group[] {
  const groups: Group[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const end = endOfIntroduced(blocks, at);
    const units = blocks.slice(at, end).flatMap((block, index) => blockUnits(block, blocks[at + index - 1]));
    // Not `push(...groups)`: code may have more lines than a call may have arguments.
    for (const group of end > at + 1 ? keptTogether(units) : units.map((unit) => [unit])) groups.push(group);
    at = end - 1;
  }
  return groups;
}

/** The end of a short paragraph with the list, table or code below it, or of any other block alone. */
function endOfIntroduced(blocks: readonly TextBlock[], at: number): number {
  const [block, next] = [blocks[at], blocks[at + 1]];
  const introduces =
    block?.kind === 'paragraph' && next !== undefined && next.kind !== 'paragraph' && isShort(block.text);
  if (!introduces) return at + 1;
  let end = at + 2;
  while (next.kind === 'item' && blocks[end]?.kind === 'item') end += 1;
  return end;
}

function isShort(text: string): boolean {
  return text.length < pieceLengthMax && countWords(text) <= introductionWordsMax;
}

function keptTogether(units: Group): Group[] {
  const count = wordsIn(units) <= wordsMax ? units.length : 2;
  const together = units.slice(0, count);
  if (wordsIn(together) > wordsMax) return units.map((unit) => [unit]);
  return [together, ...units.slice(count).map((unit) => [unit])];
}

function blockUnits(block: TextBlock, before: TextBlock | undefined): Unit[] {
  if (block.kind === 'table') return tableUnits(block.text);
  if (block.kind === 'code') return codeUnits(block.text);
  const joint = block.kind === 'item' && before?.kind === 'item' ? '\n' : '\n\n';
  return textUnits(block.kind === 'item' ? `${block.marker} ${block.text}` : block.text, joint);
}

function textUnits(text: string, joint: string): Unit[] {
  const words = countWords(text);
  if (words <= wordsMax) return [{ text, words, joint }];
  return unitsOfPieces(sentencePieces(text), joint, ' ');
}

/** The rows, below their header. If a row is too long for a passage, the rows become list items. */
function tableUnits(table: string): Unit[] {
  const [header = '', rule, ...rows] = table.split('\n');
  const wordsOf = (line: string) => countWords(line.replaceAll('|', ' '));
  const headerWords = wordsOf(header);
  const fits = (words: number) => headerWords <= introductionWordsMax && headerWords + words <= wordsMax;
  if (!rows.every((row) => row.length <= pieceLengthMax && fits(wordsOf(row)))) {
    const labels = cellsOf(header);
    return rows.flatMap((row, index) =>
      textUnits(`- ${rowText(labels, cellsOf(row))}`, index === 0 ? '\n\n' : '\n'),
    );
  }
  const frame = { before: `${header}\n${rule}\n`, after: '' };
  return rows.map((text, index) => ({
    text,
    // Counted with the first row only: passages that repeat the header are a little longer.
    words: wordsOf(text) + (index === 0 ? headerWords : 0),
    joint: index === 0 ? '\n\n' : '\n',
    frame,
  }));
}

function codeUnits(code: string): Unit[] {
  const text = code.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  if (text === '') return [];
  const inner = (text.match(/^`{3,}$/gm) ?? []).reduce((most, line) => Math.max(most, line.length), 2);
  const fence = '`'.repeat(inner + 1);
  const frame = { before: `${fence}\n`, after: `\n${fence}` };
  const words = countWords(text);
  const units =
    words <= wordsMax ? [{ text, words, joint: '\n\n' }] : unitsOfPieces(text.split('\n'), '\n\n', '\n');
  return units.map((unit) => ({ ...unit, frame }));
}

function unitsOfPieces(pieces: readonly string[], joint: string, inner: string): Unit[] {
  return pieces.flatMap(smallPieces).map((piece, index) => ({
    text: piece.text,
    words: countWords(piece.text),
    joint: index === 0 ? joint : piece.isContinued ? '' : inner,
  }));
}

function sentencePieces(text: string): string[] {
  let start = 0;
  return sentenceEnds(text).map((end) => {
    const piece = text.slice(start, end).trim();
    start = end;
    return piece;
  });
}

/** Cuts a sentence that is longer than a passage between words, and a longer word anywhere. */
function smallPieces(piece: string): { text: string; isContinued: boolean }[] {
  if (piece.length <= pieceLengthMax && countWords(piece) <= wordsMax)
    return [{ text: piece, isContinued: false }];
  const cut: { text: string; isContinued: boolean }[] = [];
  for (const run of piece.match(/\S{1,200}\s*/gu) ?? []) {
    const last = cut.at(-1);
    const isOpen = last !== undefined && last.text.length + run.length <= cutLengthMax;
    if (isOpen) last.text += run;
    else cut.push({ text: run, isContinued: cut.length > 0 });
  }
  return cut;
}
