import type { PassageText } from '../../domain/document.ts';
import type { Block } from './blocks.ts';
import { cellsOf, countWords, rowText, sentenceEnds } from './passage-parts.ts';
import { type Section, sectionsOf, type TextBlock } from './sections.ts';

const wordsMin = 60;
const wordsMax = 180;
const wordsAimedAt = 150;
const introductionWordsMax = 60;
/** Shorter than a passage, even if every second character is a space. */
const cutPieces = /.{1,300}(?<=\s|$)|\S{1,200}/gsu;
const pieceLengthMax = 2_000;

/** A piece that is not cut further. `joint` is put between it and the unit before it in the same passage. */
interface Unit {
  readonly text: string;
  readonly words: number;
  readonly joint: string;
  /** Put around the units of a table or code block, in every passage that holds some of them. */
  readonly frame?: { readonly before: string; readonly after: string };
}

type Group = readonly Unit[];

/**
 * Splits a document into passages of about 60 to 180 words. No passage crosses a heading, and only a sentence that is
 * longer than a passage is cut. The paragraph that introduces a list stays with it, or with its first item if the list is
 * too long.
 */
export function* splitPassages(blocks: readonly Block[], title: string): Generator<PassageText> {
  for (const section of sectionsOf(blocks, title)) {
    const { heading, term } = section;
    for (const units of pack([...groupsOf(section)])) {
      const text = joined(units);
      if (text !== '') yield { heading, text: term === '' ? text : `${term}\n${text}` };
    }
  }
}

/** Fills passages evenly: a section of 200 words becomes two of 100, not one of 180 and a rest. */
function pack(groups: readonly Group[]): Group[] {
  const total = wordsIn(groups.flat());
  const aim = total <= wordsMax ? wordsMax : total / Math.ceil(total / wordsAimedAt);
  const passages: { units: Unit[]; words: number }[] = [];
  for (const group of groups) {
    const open = passages.at(-1);
    const more = wordsIn(group);
    const hasRoom =
      open !== undefined &&
      open.words + more <= wordsMax &&
      (open.words < wordsMin || open.words + more / 2 <= aim);
    if (hasRoom) {
      // Not `push(...group)`: code may have more lines than a call may have arguments.
      for (const unit of group) open.units.push(unit);
      open.words += more;
    } else passages.push({ units: [...group], words: more });
  }
  const [previous, rest] = passages.slice(-2);
  if (rest !== undefined && rest.words < wordsMin && previous!.words + rest.words <= wordsMax)
    passages.splice(-2, 2, { units: [...previous!.units, ...rest.units], words: 0 });
  return passages.map(({ units }) => units);
}

function joined(units: Group): string {
  const parts: string[] = [];
  for (const [index, { text, joint, frame }] of units.entries()) {
    if (index > 0) parts.push(joint);
    if (frame !== units[index - 1]?.frame) parts.push(frame?.before ?? '');
    parts.push(text);
    if (frame !== units[index + 1]?.frame) parts.push(frame?.after ?? '');
  }
  return parts.join('').trim();
}

function wordsIn(units: Group): number {
  return units.reduce((sum, unit) => sum + unit.words, 0);
}

function* groupsOf({ blocks }: Section): Generator<Group> {
  for (let at = 0; at < blocks.length; ) {
    const end = endOfIntroduced(blocks, at);
    const units = blocks.slice(at, end).flatMap((block, index) => unitsOf(block, blocks[at + index - 1]));
    const together = end === at + 1 ? 1 : wordsIn(units) <= wordsMax ? units.length : 2;
    const count = wordsIn(units.slice(0, together)) <= wordsMax + introductionWordsMax ? together : 1;
    if (units.length > 0) yield units.slice(0, count);
    for (const unit of units.slice(count)) yield [unit];
    at = end;
  }
}

/** The end of a short paragraph, or of a text that ends with a colon, with the list, table or code below it. */
function endOfIntroduced(blocks: readonly TextBlock[], at: number): number {
  const [block, next] = [blocks[at], blocks[at + 1]];
  if (block === undefined || next === undefined || next.kind === 'paragraph') return at + 1;
  const isShort = block.text.length < pieceLengthMax && countWords(block.text) <= introductionWordsMax;
  const introduces =
    block.kind === 'paragraph'
      ? isShort
      : block.kind === 'item' && next.kind !== 'item' && block.text.endsWith(':');
  if (!introduces) return at + 1;
  let end = at + 2;
  while (next.kind === 'item' && blocks[end]?.kind === 'item') end += 1;
  return end;
}

function unitsOf(block: TextBlock, before: TextBlock | undefined): Unit[] {
  if (block.kind === 'table') return tableUnits(block.text);
  if (block.kind === 'code') return codeUnits(block.text);
  if (block.kind === 'paragraph') return textUnits(block.text, '\n\n');
  return textUnits(`${block.marker} ${block.text}`, before?.kind === 'item' ? '\n' : '\n\n');
}

function textUnits(text: string, joint: string): Unit[] {
  const words = countWords(text);
  if (words <= wordsMax) return [{ text, words, joint }];
  const ends = sentenceEnds(text);
  const sentences = ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end).trim());
  return unitsOfPieces(sentences, joint, ' ');
}

/** The rows, below their header. If a row is too long for a passage, the rows become list items. */
function tableUnits(table: string): Unit[] {
  const [header = '', rule, ...rows] = table.split('\n');
  const wordsOf = (line: string) => countWords(line.replaceAll('|', ' '));
  const jointAt = (index: number) => (index === 0 ? '\n\n' : '\n');
  const headerWords = wordsOf(header);
  const fits = (row: string) => row.length <= pieceLengthMax && headerWords + wordsOf(row) <= wordsMax;
  if (headerWords > introductionWordsMax || !rows.every(fits)) {
    const labels = cellsOf(header);
    return rows.flatMap((row, index) => textUnits(`- ${rowText(labels, cellsOf(row))}`, jointAt(index)));
  }
  const frame = { before: `${header}\n${rule}\n`, after: '' };
  return rows.map((text, index) => ({
    text,
    // Counted with the first row only: passages that repeat the header are a little longer.
    words: wordsOf(text) + (index === 0 ? headerWords : 0),
    joint: jointAt(index),
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

/** Cuts a piece that is longer than a passage between words, and a longer word anywhere. */
function unitsOfPieces(pieces: readonly string[], joint: string, inner: string): Unit[] {
  const units = pieces.flatMap((piece) => {
    const isShort = piece.length <= pieceLengthMax && countWords(piece) <= wordsMax;
    const texts = isShort ? [piece] : (piece.match(cutPieces) ?? []);
    return texts.map((text, at) => ({ text, words: countWords(text), joint: at > 0 ? '' : inner }));
  });
  return units.map((unit, at) => (at === 0 ? { ...unit, joint } : unit));
}
