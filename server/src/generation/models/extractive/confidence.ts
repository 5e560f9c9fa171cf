import type { FoundPassage } from '../../../domain/document.ts';
import { synonymCertainty } from '../../retrieval/question.ts';
import { placesOf, type WeighedConcept, type WeighedQuestion } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { tokensOf } from '../../retrieval/terms.ts';
import { unitsOf } from './units.ts';
import { type AskedName, isGeneral, isOfAnotherName } from './unknown-names.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const confidence = {
  /** How much of the question two neighbouring sentences must speak of; below it nothing is answered. */
  spokenOfMin: 0.5,
  /** The same for the rest of a question about a name that no passage holds. */
  spokenOfBesidesNameMin: 0.9,
  /** And for a passage to be worth naming where nothing is answered. */
  spokenOfNearMin: 0.3,
  /** The most that a word weighs, and what one weighs that no passage holds, against the rarest. */
  weightMax: 0.45,
  unknownWeight: 0.68,
  /** How surely a synonym is what was meant. */
  synonym: 0.8,
};

const passagesMax = 3;

/** The passages to answer from: none where the best speak only of something near what was asked. */
export function groundsOf({ question, passages }: SearchFindings): readonly FoundPassage[] {
  const isSpokenOf = passages
    .slice(0, passagesMax)
    .some((passage) => spokenOf(question, passage) >= confidence.spokenOfMin);
  return isSpokenOf ? passages : [];
}

/**
 * The passages that come closest to an answer about names that none holds, found without these. What is said of others is
 * none; a rule for all may be, where it is what a passage is about.
 */
export function groundsBesides(
  names: readonly AskedName[],
  { question, passages }: SearchFindings,
): readonly FoundPassage[] {
  const near = passages
    .slice(0, passagesMax)
    .filter((passage) => isGeneral(passage.text) && isAbout(question, passage))
    .filter((passage) => spokenOf(question, passage) >= confidence.spokenOfBesidesNameMin);
  const isOfOthers = near.some((passage) => names.some((name) => isOfAnotherName(passage, name)));
  return isOfOthers ? [] : near;
}

/** Whether heading or title hold the word that tells most. */
function isAbout(question: WeighedQuestion, { title, heading }: FoundPassage): boolean {
  const told = placesOf(question, tokensOf(`${title}\n${heading}`)).best;
  const most = Math.max(...question.concepts.map(({ weight }) => weight));
  return question.concepts.some(({ weight }, at) => weight === most && told[at]! > 0);
}

/** Whether a passage that does not answer is still worth a look: it holds words of the question as they were written. */
export function isNear(question: WeighedQuestion, passage: FoundPassage): boolean {
  const tokens = new Set(tokensOf(`${passage.title}\n${passage.heading}\n${passage.text}`));
  return (
    question.concepts.some(({ term }) => tokens.has(term)) &&
    spokenOf(question, passage) >= confidence.spokenOfNearMin
  );
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
      const weight = weightOf(concept, question);
      total += weight;
      sum += weight * certaintyOf(concept, Math.max(told[at]!, context[at]!, before[at] ?? 0));
    }
    best = Math.max(best, total === 0 ? 0 : sum / total);
    before = told;
  }
  return best;
}

function weightOf(concept: WeighedConcept, question: WeighedQuestion): number {
  const { rarityMax } = question;
  if (isMissing(concept, question)) return confidence.unknownWeight * rarityMax;
  return Math.min(concept.weight, confidence.weightMax * rarityMax);
}

const articles = new Set('a an the your our my their'.split(' '));

/** Whether no passage holds it; of a thing, by its own name: who asks for the cat is not told of pets in general. */
function isMissing({ term, wordings }: WeighedConcept, { tokens }: WeighedQuestion): boolean {
  if (wordings.length === 0) return true;
  if (wordings.some(({ certainty }) => certainty !== synonymCertainty)) return false;
  return articles.has(tokens[tokens.indexOf(term) - 1] ?? '');
}

function certaintyOf({ wordings }: WeighedConcept, told: number): number {
  if (told === 0) return 0;
  const own = wordings.find(({ certainty }) => certainty === 1);
  return own !== undefined && told >= own.weight ? 1 : confidence.synonym;
}
