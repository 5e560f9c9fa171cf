import { bareName } from '../../retrieval/file-name.ts';
import { extractPartTerms, largerWeights, matchedWeights, measureCoverage } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { stopWords } from '../../retrieval/stop-words.ts';
import { extractTerms, memoizedByText, tokenize } from '../../retrieval/terms.ts';
import type { Question } from './asking.ts';
import { type ComparedUnit, innermostHeading, type Quote } from './quote.ts';

/**
 * Weights of the features of a quote as an answer. Features are between 0 and 1, except `rank` and `expected`. The weights
 * are fitted by `bench/src/answers-fit.ts` on the questions marked `tune` and `validation`.
 */
const weights = {
  /** The passage's score in the search. */
  rank: 4,
  /** The share of the question covered by everything that the reader sees. */
  quote: 4.5,
  /** The part of the question's words that the passage, its heading or its title have, however rare they are. */
  words: 4.1,
  /** The part of the question's pairs of neighboring words that are neighbors in the passage. */
  pairs: 2.5,
  /** The part of the words of the heading, and of the title or the name, that the question has. */
  heading: 1.2,
  name: 2.3,
  /** The passage's length, up to 200 words. */
  length: -2.2,
  /** How many things the key unit has that an answer is expected to contain, such as a duration. */
  expected: 1.9,
};

export type Features = Readonly<Record<keyof typeof weights, number>>;

/** Fitted by the same program: an answer is given if the weighted sum reaches the threshold. */
export const confidenceWeights = { best: 1.2, share: 3.7, coverage: 3.7, threshold: 5.9 };

export function scoreFeatures(features: Features): number {
  return featureNames.reduce((score, name) => score + weights[name] * features[name], 0);
}

export const featureNames = Object.keys(weights) as (keyof Features)[];

/** Returns a function that compares quotes with a question. `rank` is the score of the quote's passage in the search. */
export function createComparer({ text }: Question, { concepts }: SearchFindings) {
  const terms = new Set(concepts.flatMap(({ wordings }) => wordings.map(({ term }) => term)));
  const words = tokenize(text).filter((token) => !stopWords.has(token));
  const pairs = words.slice(1).map((word, at) => ` ${words[at]} ${word} `);
  return ({ passage, from, to, key }: Quote, units: readonly ComparedUnit[], rank: number): Features => {
    const shown = units.slice(from, to + 1).map((unit) => unit.matched);
    const matched = shown.reduce(largerWeights);
    const all = largerWeights(matched, matchedWeights(concepts, extractPartTerms(passage).text));
    // All words of the text and of the heading as terms, each between spaces.
    const lines = [passage.text, passage.heading].map((part) => ` ${tokenize(part).join(' ')} `);
    const isPair = (pair: string) => lines.some((line) => line.includes(pair));
    return {
      rank,
      quote: measureCoverage(concepts, matched),
      words: all.filter((weight) => weight > 0).length / Math.max(1, concepts.length),
      pairs: pairs.filter(isPair).length / Math.max(1, pairs.length),
      heading: shareAsked(innermostHeading(passage), terms),
      name: Math.max(...[passage.title, bareName(passage.name)].map((name) => shareAsked(name, terms))),
      length: Math.min(1, tokenize(passage.text).length / 200),
      expected: units[key]!.expected,
    };
  };
}

/** The words of a title. Numbers and 'readme' do not count. */
const titleTerms = memoizedByText((title) =>
  extractTerms(title).filter((term) => !/^(?:\d+|readm)$/.test(term)),
);

/** The part of a title's words that were asked. */
function shareAsked(title: string, asked: ReadonlySet<string>): number {
  const terms = titleTerms(title);
  return terms.filter((term) => asked.has(term)).length / Math.max(1, terms.length);
}
