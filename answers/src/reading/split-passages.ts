import type { PassageText } from '../port/documents.ts';
import { type Block, listSections, type TextBlock } from './blocks.ts';
import {
  countWords,
  headerLine,
  joinedUnits,
  joinUnits,
  splitProse,
  splitUnits,
  type Unit,
  withoutTable,
} from './passage-parts.ts';

const wordsMin = 60;
const wordsMax = 180;
const wordsAimedAt = 150;
const introductionWordsMax = 60;
/** Shorter than a passage, even if every second character is a space. */
const cutPieces = /.{1,300}(?<=\s|$)|\S{1,200}/gsu;
const unitLengthMax = 2_000;
/** Longer words, and lines without words, count as one word per 30 characters: a passage has at most 5,400. */
const wordLengthMax = 30;

/** The number of a section or a question, such as `1.2.`, as a paragraph of its own. */
const numberAlone = /^(?:\d{1,3}\.){2,6}$/;

/** Units that stay in one passage. */
type Run = readonly Unit[];

/** Passages have about 60 to 180 words. None crosses a heading, and only a sentence that is longer than a passage is cut. */
export function* splitPassages(
  blocks: readonly Block[],
  title: string,
  headingLengthMax: number,
): Generator<PassageText> {
  const read = blocks.filter(({ kind, text }) => kind !== 'paragraph' || !numberAlone.test(text));
  for (const { heading, term, blocks: own } of listSections(read, title, headingLengthMax)) {
    for (const units of pack(groupRuns(splitUnits(joinBlocks(own)).flatMap(withoutLongUnit)))) {
      if (units.every((unit) => unit.text.trim() === '')) continue;
      const text = joinUnits(units);
      yield { heading, text: term === '' ? text : `${term}\n${text}` };
    }
  }
}

function joinBlocks(blocks: readonly TextBlock[]): string {
  const parts = blocks.map(({ kind, text }, at) => {
    const joint = kind === 'item' && blocks[at - 1]?.kind === 'item' ? '' : '\n';
    return `${joint}${kind === 'code' ? fenced(text) : text}`;
  });
  return parts.join('\n');
}

function fenced(code: string): string {
  if (code.trim() === '') return '';
  const inner = (code.match(/^`{3,}$/gm) ?? []).reduce((most, line) => Math.max(most, line.length), 2);
  const fence = '`'.repeat(inner + 1);
  return `${fence}\n${code.trimEnd()}\n${fence}`;
}

/** Cuts a unit that is longer than a passage: between sentences, else between words, else anywhere. A row becomes an item. */
function withoutLongUnit(whole: Unit): Unit[] {
  if (fits(`${headerLine(whole)} ${whole.text}`)) return [whole];
  const unit = withoutTable(whole);
  const pieces = unit.kind === 'code' ? [unit.text] : splitProse(unit.text);
  return pieces
    .flatMap((piece) => (fits(piece) ? [piece] : (piece.match(cutPieces) ?? [])))
    .map((piece, at) => ({
      ...unit,
      // Only the first piece of an item has the bullet.
      kind: at > 0 && unit.kind === 'item' ? 'sentence' : unit.kind,
      text: piece.trimEnd(),
      words: countWords(piece),
    }));
}

function fits(text: string): boolean {
  return text.length <= unitLengthMax && estimateWords(text) <= wordsMax;
}

/**
 * A paragraph or a block of code stays together if it fits into a passage, and so does a list with its introduction. The
 * introduction of a longer list stays with the first item.
 */
function groupRuns(units: readonly Unit[]): Run[] {
  const runs: Run[] = [];
  for (const group of Map.groupBy(units, ({ group }) => group).values()) {
    const { kind } = group[0]!;
    const introduction = introduces(runs.at(-1), kind) ? runs.pop()! : [];
    const whole = [...introduction, ...group];
    const isWhole = wordsIn(kind === 'code' ? group : whole) <= wordsMax;
    runs.push(isWhole ? whole : [...introduction, group[0]!]);
    if (!isWhole) for (const unit of group.slice(1)) runs.push([unit]);
  }
  return runs;
}

/** Whether a run is a short paragraph above a list, table or code, or an item with a colon above a table or code. */
function introduces(run: Run = [], next: Unit['kind']): boolean {
  const last = run.at(-1);
  if (last === undefined || next === 'sentence' || next === last.kind) return false;
  if (last.kind === 'sentence') return wordsIn(run) <= introductionWordsMax;
  return last.kind === 'item' && last.text.endsWith(':');
}

/** Fills passages evenly: a section of 200 words becomes two of 100, not one of 180 and a rest. */
function pack(runs: readonly Run[]): Run[] {
  const total = runs.reduce((sum, run) => sum + wordsIn(run), 0);
  const aim = total <= wordsMax ? wordsMax : total / Math.ceil(total / wordsAimedAt);
  const passages: Unit[][] = [];
  let filled = Number.POSITIVE_INFINITY;
  for (const run of runs) {
    const words = wordsIn(run);
    const isEven = filled < wordsMin || filled + words / 2 <= aim;
    if (!isEven || filled + words > wordsMax) {
      passages.push([]);
      filled = 0;
    }
    passages.at(-1)!.push(...run);
    filled += words;
  }
  return passages;
}

function wordsIn(units: Run): number {
  return units.reduce((sum, unit) => sum + estimateWords(joinedUnits([unit]), unit.header), 0);
}

/** The bars of a table are not words. The header counts only by its length. */
function estimateWords(text: string, header = ''): number {
  const words = countWords(text.replaceAll('|', ' '));
  return Math.max(words, (header.length + text.length + 1) / wordLengthMax);
}
