import { placesOf, type WeighedConcept, type WeighedQuestion } from '../../retrieval/ranking.ts';
import { tokensOf } from '../../retrieval/terms.ts';
import { type Quote, textOf } from './quote.ts';

/** Found on the questions marked `tune` of bench/evaluation. */
export const confidence = {
  /** How much of what was asked a quote must speak of to be an answer, and to be worth showing. */
  answer: 0.65,
  closest: 0.3,
  /** The most that one word weighs, and what a word weighs that no passage holds, against the rarest. */
  weightMax: 0.6,
  unknownWeight: 0.8,
  synonym: 0.8,
  /** How much of what the best quote speaks of a second one must speak of. */
  further: 0.85,
  /** The same among the closest. */
  asClose: 0.7,
};

/** How much of what was asked the quote speaks of, by the rarity of the words: 0 to 1. */
export function coverageOf(question: WeighedQuestion, quote: Quote): number {
  const told = placesOf(question, tokensOf(textOf(quote))).best;
  let sum = 0;
  let total = 0;
  for (const [at, concept] of question.concepts.entries()) {
    const weight = weightOf(concept, question);
    total += weight;
    sum += weight * certaintyOf(concept, told[at]!);
  }
  return total === 0 ? 0 : sum / total;
}

function weightOf({ wordings, weight }: WeighedConcept, { rarityMax }: WeighedQuestion): number {
  if (wordings.length === 0) return confidence.unknownWeight * rarityMax;
  return Math.min(weight, confidence.weightMax * rarityMax);
}

function certaintyOf({ wordings }: WeighedConcept, told: number): number {
  if (told === 0) return 0;
  const own = wordings.find(({ certainty }) => certainty === 1);
  return own !== undefined && told >= own.weight ? 1 : confidence.synonym;
}

const placing = new Set('to in from within outside for with on using via at of like'.split(' '));

/**
 * A thing that was asked about and that no document mentions: 'to Canada', 'with docker'. What the documents say of others
 * is no answer about it.
 */
export function unknownNameOf({ concepts, tokens }: WeighedQuestion, text: string): string | undefined {
  return concepts.find(({ wordings, term, word }) => {
    if (wordings.length > 0) return false;
    const at = tokens.indexOf(term);
    const isPlaced = placing.has(tokens[at - 1] ?? '') || placing.has(tokens[at - 2] ?? '');
    return (
      isPlaced || (at > 0 && new RegExp(`\\b${word.charAt(0).toUpperCase()}${word.slice(1)}`).test(text))
    );
  })?.word;
}
