import type { FoundPassage } from '../../../domain/document.ts';
import { type AnswerKind, givesAnswerOf } from '../../retrieval/answer-kind.ts';
import { placesOf, type WeighedQuestion } from '../../retrieval/ranking.ts';
import { tokensOf } from '../../retrieval/terms.ts';
import { type Unit, unitsOf } from './units.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const weights = {
  /** What a word counts that stands only in heading or title, or only in the sentence before. */
  context: 0.75,
  before: 0.15,
  headingIsQuestion: 1.15,
  kind: 0.15,
  definition: 0.6,
  rank: 0.04,
  /** How good a further sentence must be against the best. */
  further: 0.75,
  furtherElsewhere: 0.8,
};

/** A passage, and which of its units say something that was asked. */
export interface Selection {
  readonly passage: FoundPassage;
  readonly units: readonly Unit[];
  readonly chosen: ReadonlySet<number>;
}

interface Candidate {
  readonly passage: number;
  readonly unit: number;
  readonly score: number;
  readonly told: readonly number[];
}

/** How much of a heading must stand in the question for the two to be the same. */
const sameHeading = 0.75;
const passagesMax = 3;
const unitsMax = 4;
const itemsMax = 10;

/** The sentences that answer best, from the best passages; none where the passages speak of something else. */
export function selectUnits(question: WeighedQuestion, passages: readonly FoundPassage[]): Selection[] {
  const units = passages.map(({ text }) => unitsOf(text));
  const candidates = passages
    .flatMap((passage, at) => candidatesOf(question, passage, units[at]!, at))
    .sort((a, b) => b.score - a.score);
  const [best] = candidates;
  if (best === undefined || best.score <= 0) return [];
  const chosen = new Map<number, Set<number>>();
  for (const candidate of chooseCandidates(candidates, best, question.wants)) {
    const group = chosen.get(candidate.passage) ?? new Set();
    chosen.set(candidate.passage, group);
    for (const unit of withCompany(units[candidate.passage]!, candidate.unit, question.wants))
      group.add(unit);
  }
  return [...chosen].map(([at, group]) => ({ passage: passages[at]!, units: units[at]!, chosen: group }));
}

function candidatesOf(
  question: WeighedQuestion,
  passage: FoundPassage,
  units: readonly Unit[],
  rank: number,
): Candidate[] {
  const total = question.concepts.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const context = contextOf(question, passage);
  const told = units.map(({ text }) => placesOf(question, tokensOf(text)).best);
  return units.map(({ text, list }, unit) => {
    const before = told[leadOf(units, unit)] ?? [];
    const shares = question.concepts.map((_, at) =>
      Math.max(told[unit]![at]!, context[at]!, weights.before * (before[at] ?? 0)),
    );
    const own = told[unit]!.reduce((a, b) => a + b, 0);
    const kind = kindWeight(question, text, list);
    const spoken = shares.reduce((a, b) => a + b, 0) / total;
    const score = own === 0 && kind === 0 ? 0 : spoken + kind - weights.rank * rank;
    return { passage: rank, unit, score, told: told[unit]! };
  });
}

/** Per concept, what heading and title tell of it. Where the heading is the question, all under it answers. */
function contextOf(question: WeighedQuestion, { title, heading }: FoundPassage): number[] {
  const innermost = tokensOf(heading.split(' › ').at(-1)!);
  const { best } = placesOf(question, innermost);
  const shared = innermost.filter((token) => question.tokens.includes(token)).length;
  const isQuestion = best.every((weight) => weight > 0) && shared >= sameHeading * innermost.length;
  if (isQuestion) return best.map((weight) => weights.headingIsQuestion * weight);
  return placesOf(question, tokensOf(`${title}\n${heading}`)).best.map((weight) => weights.context * weight);
}

function kindWeight({ wants, definition }: WeighedQuestion, text: string, list: number | undefined): number {
  if (definition !== undefined) return definition.test(text) ? weights.definition : 0;
  if (wants === undefined) return 0;
  const gives = wants === 'list' ? list !== undefined : givesAnswerOf(wants, text);
  return gives ? weights.kind : 0;
}

/** The unit that says what this one is about: what introduces its list, or else the sentence before. */
function leadOf(units: readonly Unit[], unit: number): number {
  const list = units[unit]!.list;
  let at = unit - 1;
  if (list !== undefined) while (units[at]?.list === list) at--;
  return at;
}

function chooseCandidates(
  candidates: readonly Candidate[],
  best: Candidate,
  wants: AnswerKind | undefined,
): Candidate[] {
  const chosen = [best];
  const passages = new Set([best.passage]);
  const unitLimit = wants === 'steps' || wants === undefined ? unitsMax : unitsMax - 1;
  for (const candidate of candidates.slice(1)) {
    if (chosen.length === unitLimit) break;
    const elsewhere = !passages.has(candidate.passage);
    if (elsewhere && passages.size === passagesMax) continue;
    const enough = elsewhere ? weights.furtherElsewhere : weights.further;
    if (candidate.score < enough * best.score) break;
    chosen.push(candidate);
    passages.add(candidate.passage);
  }
  return chosen;
}

const leansOnBefore =
  /\b(?:that|this|these|those|such) (?:amount|limit|case|cases|period|time|date|rule|sum|number|day|days)\b/i;
const beginsWithin =
  /^(?:it|its|they|their|them|this|that|these|those|he|she|such|then|otherwise|however|also|but|and|both|either|neither|if so|if not|in (?:that|this|such|these|those|which|both) cases?|after that|before that|there|here|for (?:this|that|these|those)|the (?:same|rest|others?|former|latter)|exceptions?)\b/i;

/** A unit with what it cannot be understood without: the sentence it leans on, its list, what introduces that. */
function withCompany(units: readonly Unit[], unit: number, wants: AnswerKind | undefined): number[] {
  const { text, list } = units[unit]!;
  const next = units[unit + 1];
  if (list === undefined) {
    const opensList =
      next?.list !== undefined && (text.endsWith(':') || wants === 'steps' || wants === 'list');
    const items = opensList ? listOf(units, next.list!) : [];
    const isPart = beginsWithin.test(text) || leansOnBefore.test(text);
    const rest = isFragment(text) && next !== undefined ? [unit + 1] : [];
    return [...(isPart && unit > 0 ? [unit - 1] : []), unit, ...rest, ...items];
  }
  const lead = leadOf(units, unit);
  const introduction = lead >= 0 && (units[lead]!.text.endsWith(':') || isWhole(wants)) ? [lead] : [];
  return [...introduction, ...(isWhole(wants) ? listOf(units, list) : [unit])];
}

/** 'Bird of the week.' names what the next sentence tells. */
function isFragment(text: string): boolean {
  return text.length < 40 && text.split(' ').length < 5;
}

function isWhole(wants: AnswerKind | undefined): boolean {
  return wants === 'steps' || wants === 'list';
}

function listOf(units: readonly Unit[], list: number): number[] {
  return units.flatMap((unit, at) => (unit.list === list ? [at] : [])).slice(0, itemsMax);
}
