import { memoized } from '../../../runtime/src/pure/memoized.ts';
import type { FoundPassage } from '../port/documents.ts';
import { bareName } from './file-name.ts';
import type { Concept } from './question.ts';
import { type TermCounts, termCounts, tokenize } from './terms.ts';

/** A concept with its weights, from the documents that are searched. */
export interface WeighedConcept extends Concept {
  /** Its share of the question: the fewer passages contain its word, the higher. All add up to 1. */
  readonly weight: number;
  /** The terms that match it and occur in a passage, with their weights, best first. */
  readonly wordings: readonly { readonly term: string; readonly weight: number }[];
}

/** Chosen on the questions marked `tune` in bench/evaluation. `npm run bench -- --only answers` evaluates them. */
const weights = {
  /** How soon further occurrences of a word stop raising the score. */
  saturation: 0.8,
  /** The weight of a word in a heading relative to one in the text, the title or the file's name. */
  heading: 1.2,
  /** Added to the score of a passage that has what the question asks for, such as a date. */
  expected: 0.4,
};

/** Best first, without duplicates. */
export function rankPassages(
  concepts: readonly WeighedConcept[],
  passages: readonly FoundPassage[],
  limit: number,
  countExpected?: (text: string) => number,
) {
  const scored = passages.map((passage) => {
    const score = scorePassage(concepts, passage);
    return { passage, score, order: score + weights.expected * (countExpected?.(passage.text) ?? 0) };
  });
  const bestFirst = scored.sort((a, b) => b.order - a.order);
  const groups = Map.groupBy(bestFirst, ({ passage }) => tokenize(passage.text).join(' '));
  return Array.from(groups.values(), ([best]) => best!).slice(0, limit);
}

/** 0 to 1.8: how much of the question's weight the words of a passage have. */
function scorePassage(concepts: readonly WeighedConcept[], passage: FoundPassage): number {
  const { text, heading, title } = extractPartTerms(passage);
  let score = 0;
  for (const { wordings } of concepts) {
    let frequency = 0;
    let best = 0;
    for (const { term, weight } of wordings) {
      const found =
        (text.get(term) ?? 0) + (title.get(term) ?? 0) + weights.heading * (heading.get(term) ?? 0);
      if (found > 0) best ||= weight;
      frequency += found;
    }
    score += best * ((frequency * (1 + weights.saturation)) / (frequency + weights.saturation));
  }
  return score;
}

export const extractPartTerms = memoized(({ text, heading, title, name }: FoundPassage) => ({
  text: termCounts(text),
  heading: termCounts(heading),
  // A file's name often contains what its title lacks, such as the name of the tool that it describes.
  title: termCounts(`${title}\n${bareName(name)}`),
}));

/** Per concept, the weight of the best wording that a text with these terms contains, or 0. */
export function matchedWeights(concepts: readonly WeighedConcept[], counts: TermCounts): number[] {
  return concepts.map(({ wordings }) => wordings.find(({ term }) => counts.has(term))?.weight ?? 0);
}

/** The weight of a synonym or another spelling relative to the word in the question. */
export const otherWording = 0.8;

/** The share of the question that is covered: 0 to 1. */
export function measureCoverage(concepts: readonly WeighedConcept[], matched: readonly number[]): number {
  return concepts.reduce((sum, { weight }, at) => {
    if (matched[at] === 0) return sum;
    return sum + weight * (matched[at] === weight ? 1 : otherWording);
  }, 0);
}

/** The weights that two texts match together. */
export function largerWeights(a: readonly number[], b: readonly number[]): number[] {
  return a.map((weight, concept) => Math.max(weight, b[concept]!));
}
