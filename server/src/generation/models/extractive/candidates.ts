import type { FoundPassage } from '../../../domain/document.ts';
import { givesAnswerOf } from '../../retrieval/answer-kind.ts';
import { placesOf, type WeighedQuestion } from '../../retrieval/ranking.ts';
import { stopWords } from '../../retrieval/stop-words.ts';
import { termOf, tokensOf, wordsOf } from '../../retrieval/terms.ts';
import { isRow, leadOf } from './company.ts';
import type { Unit } from './units.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const weights = {
  /** What a word counts that stands only in heading or title, or only in the sentence before. */
  context: 0.8,
  before: 0.25,
  headingIsQuestion: 1.15,
  /** For standing under a heading that the question repeats. */
  headingIsAsked: 0.1,
  /** For beginning with what was asked about, and not with something else. */
  subject: 0.05,
  kind: 0.2,
  definition: 0.6,
  /** Taken from a row of a table: a sentence that says the same reads better. */
  row: 0.15,
  rank: 0.02,
};

/** A unit that may be part of an answer. */
export interface Candidate {
  /** The passage's rank, and the unit's place in it. */
  readonly passage: number;
  readonly unit: number;
  readonly score: number;
  /** Per concept of the question, what the unit itself tells of it. */
  readonly told: readonly number[];
  readonly givesKind: boolean;
  /** What it says, as terms. */
  readonly terms: ReadonlySet<string>;
}

/** Every unit of a passage, in order, with how well it answers. */
export function candidatesOf(
  question: WeighedQuestion,
  passage: FoundPassage,
  units: readonly Unit[],
  rank: number,
  prefers: (text: string) => boolean = () => false,
): Candidate[] {
  const total = question.concepts.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const context = contextOf(question, passage);
  const words = units.map(({ text }) => wordsOf(text));
  const told = words.map((own) => placesOf(question, own.map(termOf)).best);
  return units.map((unit, at) => {
    const before = told[leadOf(units, at)] ?? [];
    const shares = question.concepts.map((_, concept) =>
      Math.max(told[at]![concept]!, context.told[concept]!, weights.before * (before[concept] ?? 0)),
    );
    const content = words[at]!.filter((word) => !stopWords.has(word)).map(termOf);
    const kind = kindWeight(question, unit);
    const isAbout = !isTitle(unit) && (sum(told[at]!) > 0 || kind > 0);
    const score =
      sum(shares) / total +
      context.bonus +
      kind +
      weights.subject * subjectShare(question, content) +
      (prefers(unit.text) ? weights.kind : 0) -
      (isRow(unit) ? weights.row : 0) -
      weights.rank * rank;
    return {
      passage: rank,
      unit: at,
      score: isAbout ? score : 0,
      told: told[at]!,
      givesKind: kind > 0,
      terms: new Set(content),
    };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

/** How much of a heading must stand in the question for the two to be the same. */
const sameHeading = 0.75;

/** Per concept, what heading and title tell of it. Where the heading is the question, all under it answers. */
function contextOf(question: WeighedQuestion, passage: FoundPassage): { told: number[]; bonus: number } {
  const innermost = tokensOf(passage.heading.split(' › ').at(-1)!);
  const { best } = placesOf(question, innermost);
  const shared = innermost.filter((token) => question.tokens.includes(token)).length;
  const isAsked = sum(best) > 0 && shared >= sameHeading * innermost.length;
  if (isAsked && best.every((weight) => weight > 0)) {
    return { told: best.map((weight) => weights.headingIsQuestion * weight), bonus: 0 };
  }
  const told = placesOf(question, tokensOf(`${passage.title}\n${passage.heading}`)).best;
  return {
    told: told.map((weight) => weights.context * weight),
    bonus: isAsked && innermost.length > 2 ? weights.headingIsAsked : 0,
  };
}

function kindWeight({ wants, definition }: WeighedQuestion, { text, list }: Unit): number {
  if (definition !== undefined) return definition.test(text) ? weights.definition : 0;
  if (wants === undefined) return 0;
  const gives = (wants === 'list' && list !== undefined) || givesAnswerOf(wants, text);
  return gives ? weights.kind : 0;
}

const subjectTermsMax = 2;

/** How many of the words that a unit begins with are the question's: 'Needles and hooks are …' speaks of needles. */
function subjectShare(question: WeighedQuestion, content: readonly string[]): number {
  const subject = content.slice(0, subjectTermsMax);
  const asked = subject.filter((term) => sum(placesOf(question, [term]).best) > 0);
  return subject.length === 0 ? 0 : asked.length / subject.length;
}

/** 'Opening hours' says nothing by itself. */
function isTitle({ text, list }: Unit): boolean {
  return list === undefined && text.length < 60 && !/[.!?:;,…][)"”’»*_]*$/.test(text);
}
