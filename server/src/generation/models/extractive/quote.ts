import type { FoundPassage } from '../../../domain/document.ts';
import { type Part, partsOf } from '../../reading/passage-parts.ts';
import { countWords } from '../../reading/words.ts';
import { type AnswerKind, givesAnswerOf } from '../../retrieval/answer-kind.ts';
import { placesOf, titleAndName, type WeighedQuestion } from '../../retrieval/ranking.ts';
import { tokensOf } from '../../retrieval/terms.ts';

/** The smallest part of a passage that can be quoted: a sentence, a list item, a table row or a block of code. */
interface Unit {
  readonly kind: 'sentence' | 'item' | 'row' | 'code';
  readonly text: string;
  /** Units of the same paragraph, list or table share a number. */
  readonly group: number;
  /** Header and rule of a row's table. */
  readonly header?: string;
}

/** A part of a passage: the units from `from` to `to`, and the one that answers best. */
export interface Quote {
  readonly passage: FoundPassage;
  readonly units: readonly Unit[];
  readonly from: number;
  readonly to: number;
  readonly key: number;
  /** How well the key unit answers. */
  readonly score: number;
}

/** Found on the questions of the half `tune` in bench/evaluation. */
const weights = {
  /** For words that the unit itself holds, beyond those of the heading above it. */
  own: 0.3,
  /** For words of the unit before. */
  before: 0.25,
  /** For having what was asked for: a figure, or else a place, a reason, a list. */
  measure: 0.5,
  kind: 0.1,
  definition: 0.6,
  /** Each unit after the first counts a little less, so that of equals the first is the key. */
  order: 0.005,
};

/** The units around the one that answers best, as many as fit. Undefined where the passage says nothing that can be quoted. */
export function quoteFrom(
  question: WeighedQuestion,
  passage: FoundPassage,
  wordsMax: number,
): Quote | undefined {
  const units = unitsOf(passage.text);
  const { key, score } = keyOf(question, passage, units);
  if (key < 0) return undefined;
  return { passage, units, key, score, ...around(units, key, wordsMax) };
}

/** The unit that speaks most of what was asked, with the heading above it and the sentence before. */
function keyOf(
  question: WeighedQuestion,
  passage: FoundPassage,
  units: readonly Unit[],
): { key: number; score: number } {
  const total = question.concepts.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const context = placesOf(question, tokensOf(`${titleAndName(passage)}\n${passage.heading}`)).best;
  // Under a heading that is the question everything answers.
  const heading = placesOf(question, tokensOf(passage.heading.split(' › ').at(-1)!)).best;
  const isAsked = heading.length > 0 && heading.every((weight) => weight > 0);
  let best = { key: -1, score: Number.NEGATIVE_INFINITY };
  let before: readonly number[] = [];
  for (const [at, unit] of units.entries()) {
    const told = placesOf(question, tokensOf(unit.text)).best;
    const shares = told.map((own, concept) =>
      Math.max(own, context[concept]!, weights.before * (before[concept] ?? 0)),
    );
    const sum = sumOf(shares) + weights.own * sumOf(isAsked ? shares : told);
    const score = sum / total + kindBonus(question, unit) - weights.order * at;
    if (isQuotable(unit) && score > best.score) best = { key: at, score };
    before = told;
  }
  return best;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

const measured: ReadonlySet<AnswerKind> = new Set(['duration', 'time', 'money', 'number']);

function kindBonus({ wants, definition }: WeighedQuestion, { kind, text }: Unit): number {
  if (definition?.test(text)) return weights.definition;
  if (wants === undefined || kind === 'code') return 0;
  if (!givesAnswerOf(wants, text)) return 0;
  return measured.has(wants) ? weights.measure : weights.kind;
}

/** A question answers nothing, and code says nothing by itself. */
function isQuotable(unit: Unit): boolean {
  return unit.kind !== 'code' && !isQuestion(unit);
}

function isQuestion({ kind, text }: Unit): boolean {
  return kind === 'sentence' && text.endsWith('?');
}

/** Grows the quote to what follows and what comes before, as far as the words allow. */
function around(units: readonly Unit[], key: number, wordsMax: number): { from: number; to: number } {
  let [from, to] = [key, key];
  let left = wordsMax - countWords(units[key]!.text);
  const take = (at: number) => {
    const unit = units[at];
    const words = unit === undefined ? Number.POSITIVE_INFINITY : countWords(unit.text);
    // A few rows of some other table would only confuse.
    const isOfOtherTable = unit?.kind === 'row' && unit.group !== units[key]!.group;
    if (unit === undefined || words > left || isOfOtherTable) return false;
    left -= words;
    return true;
  };
  // What introduces a list comes before its items, and the sentence before explains a pronoun.
  const lead = leadOf(units, key);
  if (lead >= 0 && lead === from - 1 && take(lead)) from = lead;
  while (take(to + 1)) to++;
  while (take(from - 1)) from--;
  while (from < key && isQuestion(units[from]!)) from++;
  while (to > key && (isQuestion(units[to]!) || units[to]!.text.endsWith(':'))) to--;
  return { from, to };
}

/** The sentence that introduces the list or table of a unit; for a sentence, the one before it. */
function leadOf(units: readonly Unit[], at: number): number {
  const { group, kind } = units[at]!;
  if (kind === 'sentence') return at - 1;
  let lead = at - 1;
  while (units[lead]?.group === group) lead--;
  return lead;
}

/** Bare headings are left out: a quote is shown with its document's title. */
function unitsOf(text: string): Unit[] {
  const units = partsOf(text).flatMap(unitsOfPart);
  return units.filter((unit, at) => !isBareHeading(unit) || units[at - 1]?.text.endsWith(':'));
}

function unitsOfPart(part: Part, group: number): Unit[] {
  switch (part.kind) {
    case 'list':
      return part.items.map((item) => ({ kind: 'item', text: cutWords(item), group }));
    case 'table': {
      const header = part.lines.slice(0, 2).join('\n');
      return part.lines.slice(2).map((row) => ({ kind: 'row', text: row, group, header }));
    }
    case 'code':
      return [{ kind: 'code', text: part.lines.join('\n'), group }];
    default:
      return part.sentences.map((sentence) => ({ kind: 'sentence', text: cutWords(sentence), group }));
  }
}

const unitWordsMax = 70;

/** Cuts a sentence that is too long to quote. */
function cutWords(text: string): string {
  const words = text.split(' ');
  return words.length <= unitWordsMax ? text : `${words.slice(0, unitWordsMax).join(' ')} …`;
}

function isBareHeading({ kind, text }: Unit): boolean {
  return kind === 'sentence' && text.length < 60 && !/[.!?:;,…)"”’»*_`]$/.test(text);
}

/** Markdown with the key unit in bold and the citation at the end. */
export function render({ units, from, to, key }: Quote, mark: number): string {
  const parts: string[] = [];
  let before: Unit | undefined;
  for (let at = from; at <= to; at++) {
    const unit = units[at]!;
    const text = at === key && unit.kind !== 'code' && unit.kind !== 'row' ? bold(unit.text) : unit.text;
    parts.push(jointOf(before, unit), unit.kind === 'item' ? `- ${text}` : text);
    before = unit;
  }
  const text = parts.join('');
  const isBlock = before!.kind === 'row' || before!.kind === 'code';
  return `${text}${isBlock ? '\n\n' : ' '}[${mark}]`;
}

function jointOf(before: Unit | undefined, unit: Unit): string {
  const opening = unit.kind === 'row' && before?.group !== unit.group ? `${unit.header}\n` : '';
  if (before === undefined) return opening;
  if (before.group !== unit.group) return `\n\n${opening}`;
  if (unit.kind === 'sentence' && before.kind === 'sentence') return ' ';
  return before.kind === unit.kind ? '\n' : '\n\n';
}

function bold(text: string): string {
  return `**${text.replaceAll('**', '')}**`;
}

export function sentenceCount({ from, to }: Quote): number {
  return to - from + 1;
}

/** What the quote says, with the headings above it. */
export function textOf({ passage, units, from, to }: Quote): string {
  const quoted = units.slice(from, to + 1).map(({ text, header }) => `${header ?? ''}\n${text}`);
  return `${passage.title}\n${passage.heading}\n${quoted.join('\n')}`;
}
