import type { FoundPassage } from '../../../domain/document.ts';
import type { AnswerKind } from '../../retrieval/answer-kind.ts';
import type { WeighedQuestion } from '../../retrieval/ranking.ts';
import { type Candidate, candidatesOf } from './candidates.ts';
import { wholeLists, withCompany } from './company.ts';
import { type Unit, unitsOf } from './units.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const limits = {
  /** How good what gives the kind that was asked for must be to lead, against a better one that does not. */
  leads: 0.9,
  /** How good a further sentence must be against the best. */
  further: 0.75,
  furtherElsewhere: 0.85,
  /** How much of the question a further sentence must tell that those before it do not. */
  adds: 0.1,
  /** And how much of what the best tells, where it stands elsewhere. */
  addsTo: 0.3,
  /** How much of the question a sentence must tell to be an answer by itself. */
  whole: 0.9,
  /** How much of what the best tells another must tell to be of the same subject: where that is an answer, and else. */
  sameSubject: 0.95,
  nearSubject: 0.7,
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

/** The sentences that answer best, best first, of equals those that it prefers; none where all speak of something else. */
export function selectUnits(
  question: WeighedQuestion,
  passages: readonly FoundPassage[],
  prefers?: (text: string) => boolean,
): Selection[] {
  const units = passages.map(({ text }) => unitsOf(text));
  const candidates = passages
    .flatMap((passage, at) => candidatesOf(question, passage, units[at]!, at, prefers))
    .sort((a, b) => b.score - a.score);
  const best = leaderOf(candidates);
  if (best === undefined) return [];
  const chosen = Map.groupBy(chooseCandidates(question, candidates, best), ({ passage }) => passage);
  return [...chosen].map(([at, group]) => ({
    passage: passages[at]!,
    units: units[at]!,
    told: toldOf(inOrder(group), units[at]!, question.wants),
  }));
}

function toldOf(
  group: readonly Candidate[],
  units: readonly Unit[],
  wants: AnswerKind | undefined,
): number[] {
  const told = new Set(group.flatMap(({ unit }) => withCompany(units, unit, wants)));
  return wholeLists([...told], units);
}

/** The best leads; what is about as good stands as it was written. */
function inOrder(group: readonly Candidate[]): Candidate[] {
  const best = group[0]!.score;
  const [alike, others] = [true, false].map((isAlike) =>
    group.filter(({ score }) => isAlike === score >= limits.asGood * best).sort((a, b) => a.unit - b.unit),
  );
  return [...alike!, ...others!];
}

/** The best, or one that is nearly as good and gives what was asked for, where the best does not. */
function leaderOf([best, ...others]: readonly Candidate[]): Candidate | undefined {
  if (best === undefined || best.score <= 0) return undefined;
  if (best.givesKind) return best;
  return others.find(({ givesKind, score }) => givesKind && score >= limits.leads * best.score) ?? best;
}

function chooseCandidates(
  question: WeighedQuestion,
  candidates: readonly Candidate[],
  best: Candidate,
): Candidate[] {
  const chosen = [best];
  const passages = new Set([best.passage]);
  for (const candidate of candidates) {
    if (candidate === best) continue;
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

/** Of which one question may have several answers. */
const manifold: ReadonlySet<AnswerKind> = new Set(['duration', 'time', 'money', 'number', 'steps', 'person']);

/** Whether it tells a part of the question that is still open, or once more what was asked for, of the same subject. */
function saysMore(question: WeighedQuestion, candidate: Candidate, chosen: readonly Candidate[]): boolean {
  if (newShare(candidate, chosen) < limits.isNew) return false;
  const { wants, concepts } = question;
  const first = chosen[0]!;
  const total = concepts.reduce((sum, { weight }) => sum + weight, 0);
  let added = 0;
  let own = 0;
  let common = 0;
  // Another word for the same tells of it no less here.
  for (const [at, { weight }] of concepts.entries()) {
    if (first.told[at]! > 0) own += weight;
    if (candidate.told[at] === 0) continue;
    if (first.told[at]! > 0) common += weight;
    if (chosen.every(({ told }) => told[at] === 0)) added += weight;
  }
  const isNear = candidate.passage === first.passage || common >= limits.addsTo * own;
  const isKindOpen = candidate.givesKind && chosen.every(({ givesKind }) => !givesKind);
  if (isNear && (isKindOpen || added >= limits.adds * total)) return true;
  if (own >= limits.whole * total) {
    if (common < limits.sameSubject * own) return false;
    if (!first.givesKind) return chosen.length === 1;
    return candidate.givesKind && manifold.has(wants!) && candidate.passage === first.passage;
  }
  return candidate.givesKind && manifold.has(wants!) && common >= limits.nearSubject * own;
}

/** How much of what it says is not said yet. */
function newShare({ terms }: Candidate, chosen: readonly Candidate[]): number {
  const fresh = [...terms].filter((term) => chosen.every((one) => !one.terms.has(term)));
  return fresh.length / Math.max(1, terms.size);
}
