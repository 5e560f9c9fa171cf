import type { FoundPassage } from '../../../domain/document.ts';
import { placesOf, type WeighedConcept, type WeighedQuestion } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { termOf, tokensOf, wordsOf } from '../../retrieval/terms.ts';
import { unitsOf } from './units.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const confidence = {
  /** How much of the question two neighbouring sentences must speak of; below it nothing is answered. */
  spokenOfMin: 0.5,
  /** The most that a word weighs, and what one weighs that no passage holds, against the rarest. */
  weightMax: 0.45,
  unknownWeight: 0.68,
  /** How surely a synonym is what was meant. */
  synonym: 0.8,
};

const passagesMax = 3;

/** Whether the best passages speak of what was asked, and not only of something near it. */
export function isAnswered({ question, passages }: SearchFindings, text: string): boolean {
  if (question.concepts.length === 0 || asksForUnknownName(question, text)) return false;
  return passages
    .slice(0, passagesMax)
    .some((passage) => spokenOf(question, passage) >= confidence.spokenOfMin);
}

/** The best share of the question that one sentence speaks of, with the sentence before, heading and title: 0 to 1. */
export function spokenOf(question: WeighedQuestion, passage: FoundPassage): number {
  const context = placesOf(question, tokensOf(`${passage.title}\n${passage.heading}`)).best;
  let before: readonly number[] = [];
  let best = 0;
  for (const { text } of unitsOf(passage.text)) {
    const told = placesOf(question, tokensOf(text)).best;
    let sum = 0;
    let total = 0;
    for (const [at, concept] of question.concepts.entries()) {
      const weight = weightOf(concept, question.rarityMax);
      total += weight;
      sum += weight * certaintyOf(concept, Math.max(told[at]!, context[at]!, before[at] ?? 0));
    }
    best = Math.max(best, sum / total);
    before = told;
  }
  return best;
}

function weightOf({ weight, wordings }: WeighedConcept, rarityMax: number): number {
  if (wordings.length === 0) return confidence.unknownWeight * rarityMax;
  return Math.min(weight, confidence.weightMax * rarityMax);
}

function certaintyOf({ wordings }: WeighedConcept, told: number): number {
  if (told === 0) return 0;
  const own = wordings.find(({ certainty }) => certainty === 1);
  return own !== undefined && told >= own.weight ? 1 : confidence.synonym;
}

const name = /(?<=[\p{Ll}\p{N},] )\p{Lu}\p{Ll}[\p{L}-]+/gu;

/** A name that no passage holds: whatever is said of others is no answer. Unless Every Word Is Written So. */
function asksForUnknownName({ concepts }: WeighedQuestion, text: string): boolean {
  const names = new Set(
    [...text.slice(0, 2_000).matchAll(name)].flatMap(([word]) => wordsOf(word).map(termOf)),
  );
  const unknown = concepts.filter(({ wordings }) => wordings.length === 0);
  return names.size <= concepts.length / 2 && unknown.some(({ term }) => names.has(term));
}
