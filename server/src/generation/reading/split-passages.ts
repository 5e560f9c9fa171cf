import type { PassageText } from '../../domain/document.ts';
import type { Block } from './blocks.ts';
import { type Section, sectionsOf, type TextBlock } from './sections.ts';
import { sentenceEnds } from './sentences.ts';
import { countWords } from './words.ts';

const wordsMin = 60;
const wordsMax = 180;
const wordsAimedAt = 150;
const introductionWordsMax = 60;
/** Even where every second character is a space, this is less than a passage. */
const cutLengthMax = 300;
const pieceLengthMax = 2_000;

/** What is never cut further. `joint` stands between it and the unit before, where both are in one passage. */
interface Unit {
  readonly text: string;
  readonly words: number;
  readonly joint: string;
}

/**
 * Passages of about 60 to 180 words. None crosses a heading; a sentence is cut only where it is longer than a passage.
 * What introduces a list stays with it, or with its first line where the list is too long.
 */
export function splitPassages(blocks: readonly Block[], title: string): PassageText[] {
  return sectionsOf(blocks, title).flatMap((section) =>
    pack(unitsOf(section))
      .map(joined)
      .filter((text) => text !== '')
      .map((text) => ({ heading: section.heading, text })),
  );
}

/** Fills passages evenly: a section of 200 words becomes two of 100, not one of 180 and a rest. */
function pack(units: readonly Unit[]): Unit[][] {
  const total = wordsIn(units);
  const aim = total <= wordsMax ? wordsMax : total / Math.ceil(total / wordsAimedAt);
  const passages: Unit[][] = [];
  let open: Unit[] = [];
  let words = 0;
  for (const unit of units) {
    const isFull = words + unit.words > wordsMax || (words >= wordsMin && words + unit.words / 2 > aim);
    if (open.length > 0 && isFull) {
      passages.push(open);
      open = [];
      words = 0;
    }
    open.push(unit);
    words += unit.words;
  }
  const previous = passages.at(-1);
  const isRest = words < wordsMin && previous !== undefined && wordsIn(previous) + words <= wordsMax;
  if (isRest) previous.push(...open);
  else passages.push(open);
  return passages;
}

function joined(units: readonly Unit[]): string {
  const text = units.map((unit, index) => (index === 0 ? unit.text : unit.joint + unit.text)).join('');
  // The indentation of a line of code at the beginning is kept.
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

function wordsIn(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.words, 0);
}

function unitsOf({ blocks }: Section): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const end = endOfIntroduced(blocks, at);
    const group = blocks.slice(at, end).flatMap((block, index) => blockUnits(block, blocks[at + index - 1]));
    units.push(...(end > at + 1 ? keptTogether(group) : group));
    at = end - 1;
  }
  return units;
}

/** Behind a short paragraph and the list or code under it; otherwise behind the block itself. */
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

function keptTogether(group: readonly Unit[]): Unit[] {
  const count = wordsIn(group) <= wordsMax ? group.length : 2;
  const together = group.slice(0, count);
  const [first] = together;
  if (first === undefined || wordsIn(together) > wordsMax) return [...group];
  return [{ text: joined(together), words: wordsIn(together), joint: first.joint }, ...group.slice(count)];
}

function blockUnits(block: TextBlock, before: TextBlock | undefined): Unit[] {
  const joint = block.kind === 'item' && before?.kind === 'item' ? '\n' : '\n\n';
  const text = block.kind === 'item' ? `- ${block.text}` : block.text;
  const words = countWords(text);
  if (words <= wordsMax) return [{ text, words, joint }];
  const pieces = block.kind === 'code' ? linesOf(text) : sentencePieces(text);
  const inner = block.kind === 'code' ? '\n' : ' ';
  return pieces.flatMap(smallPieces).map((piece, index) => ({
    text: piece.text,
    words: countWords(piece.text),
    joint: index === 0 ? joint : piece.isContinued ? '' : inner,
  }));
}

function linesOf(code: string): string[] {
  return code.split('\n');
}

function sentencePieces(text: string): string[] {
  let start = 0;
  return sentenceEnds(text).map((end) => {
    const piece = text.slice(start, end).trim();
    start = end;
    return piece;
  });
}

/** A sentence longer than a passage is cut between words, and a word longer than that wherever it must be. */
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
