import type { FoundPassage } from '../../../domain/document.ts';
import type { WeighedQuestion } from '../../retrieval/ranking.ts';
import { type Candidate, candidatesOf } from './candidates.ts';
import { withCompany } from './company.ts';
import { type Unit, unitsOf } from './units.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const limits = {
  /** How good a further sentence must be against the best. */
  further: 0.75,
  furtherElsewhere: 0.85,
  /** How much of the question a further sentence must tell that those before it do not. */
  adds: 0.05,
  /** How much of the best sentence's share of the question one of the same kind must tell. */
  sameSubject: 0.5,
  /** How much of the question one must tell for another that tells the same to be worth telling. */
  whole: 0.9,
  /** How much of a further sentence must not be said yet. */
  isNew: 0.45,
  /** How near a sentence must come to the best to be as good. */
  asGood: 0.97,
};

/** A passage, and which of its units say something that was asked, in the order in which they are told. */
export interface Selection {
  readonly passage: FoundPassage;
  readonly units: readonly Unit[];
  readonly told: readonly number[];
}

const passagesMax = 3;
const candidatesMax = 3;

/** The sentences that answer best, best first; none where the passages speak of something else. */
export function selectUnits(question: WeighedQuestion, passages: readonly FoundPassage[]): Selection[] {
  const units = passages.map(({ text }) => unitsOf(text));
  const candidates = passages
    .flatMap((passage, at) => candidatesOf(question, passage, units[at]!, at))
    .sort((a, b) => b.score - a.score);
  const [best] = candidates;
  if (best === undefined || best.score <= 0) return [];
  const chosen = Map.groupBy(chooseCandidates(question, candidates, best), ({ passage }) => passage);
  return [...chosen].map(([at, group]) => ({
    passage: passages[at]!,
    units: units[at]!,
    told: [...new Set(inOrder(group).flatMap(({ unit }) => withCompany(units[at]!, unit, question.wants)))],
  }));
}

/** The best leads; what is about as good stands as it was written. */
function inOrder(group: readonly Candidate[]): Candidate[] {
  const best = group[0]!.score;
  const [alike, others] = [true, false].map((isAlike) =>
    group.filter(({ score }) => isAlike === score >= limits.asGood * best).sort((a, b) => a.unit - b.unit),
  );
  return [...alike!, ...others!];
}

function chooseCandidates(
  question: WeighedQuestion,
  candidates: readonly Candidate[],
  best: Candidate,
): Candidate[] {
  const chosen = [best];
  const passages = new Set([best.passage]);
  for (const candidate of candidates.slice(1)) {
    if (chosen.length === candidatesMax) break;
    const elsewhere = !passages.has(candidate.passage);
    if (elsewhere && passages.size === passagesMax) continue;
    if (candidate.score < limits.further * best.score) break;
    if (elsewhere && candidate.score < limits.furtherElsewhere * best.score) continue;
    if (!saysMore(question, candidate, chosen)) continue;
    chosen.push(candidate);
    passages.add(candidate.passage);
  }
  return chosen;
}

/** Whether it tells a part of the question that is still open, or once more what was asked for, of the same subject. */
function saysMore(question: WeighedQuestion, candidate: Candidate, chosen: readonly Candidate[]): boolean {
  if (candidate.givesKind && chosen.every(({ givesKind }) => !givesKind)) return true;
  if (newShare(candidate, chosen) < limits.isNew) return false;
  let total = 0;
  let added = 0;
  let own = 0;
  let common = 0;
  for (const [at, { weight }] of question.concepts.entries()) {
    const known = Math.max(...chosen.map(({ told }) => told[at]!));
    const first = chosen[0]!.told[at]!;
    total += weight;
    added += Math.max(0, candidate.told[at]! - known);
    own += first;
    common += Math.min(first, candidate.told[at]!);
  }
  if (added >= limits.adds * total) return true;
  if (question.wants === undefined && chosen.length === 1) {
    return own >= limits.whole * total && common >= limits.sameSubject * own;
  }
  return candidate.givesKind && common >= limits.sameSubject * own;
}

/** How much of what it says is not said yet. */
function newShare({ terms }: Candidate, chosen: readonly Candidate[]): number {
  const fresh = [...terms].filter((term) => chosen.every((one) => !one.terms.has(term)));
  return fresh.length / Math.max(1, terms.size);
}
