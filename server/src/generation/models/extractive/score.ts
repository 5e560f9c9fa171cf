import { bareName } from '../../../domain/document.ts';
import { contextWeights, coverageOf, largerWeights, matchedWeights } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { remembered, stopWords, termsOf, tokensOf } from '../../retrieval/terms.ts';
import type { Question } from './asking.ts';
import { innermostHeading, type Quote, shownUnits, withHeader } from './quote.ts';

/**
 * Weights of the features of a quote as an answer. Features are between 0 and 1, except `rank` and `sought`. The weights are fitted by
 * `bench/src/answers-fit.ts` on the questions marked `tune` and `validation`.
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
  /** Whether the key unit, and any unit of the quote, has what the question asks for, such as a duration. */
  sought: 1,
  soughtNear: 0.9,
};

export type Features = Readonly<Record<keyof typeof weights, number>>;

/** Fitted by the same program: an answer is given if the weighted sum reaches the threshold. */
export const confidenceWeights = { best: 1.2, share: 3.7, coverage: 3.7, threshold: 5.9 };

export function scoreOf(features: Features): number {
  return featureNames.reduce((score, name) => score + weights[name] * features[name], 0);
}

export const featureNames = Object.keys(weights) as (keyof Features)[];

/** Returns a function that compares quotes with a question. `rank` is the score of the quote's passage in the search. */
export function comparerOf({ text }: Question, { concepts, sought }: SearchFindings) {
  const terms = new Set(concepts.flatMap(({ wordings }) => wordings.map(({ term }) => term)));
  const words = tokensOf(text).filter((token) => !stopWords.has(token));
  const pairs = words.slice(1).map((word, at) => ` ${words[at]} ${word} `);
  return (quote: Quote, rank: number): { features: Features; matched: readonly number[] } => {
    const { passage } = quote;
    const units = shownUnits(quote);
    const context = contextWeights(concepts, passage);
    const shown = units
      .map((unit) => matchedWeights(concepts, withHeader(unit)))
      .reduce(largerWeights, context);
    const all = largerWeights(context, matchedWeights(concepts, passage.text));
    const isPair = (pair: string) =>
      wordLine(passage.text).includes(pair) || wordLine(passage.heading).includes(pair);
    const features = {
      rank,
      quote: coverageOf(concepts, shown),
      words: all.filter((weight) => weight > 0).length / Math.max(1, concepts.length),
      pairs: pairs.filter(isPair).length / Math.max(1, pairs.length),
      heading: shareAsked(innermostHeading(passage), terms),
      name: Math.max(shareAsked(passage.title, terms), shareAsked(bareName(passage.name), terms)),
      length: Math.min(1, tokensOf(passage.text).length / 200),
      sought: sought?.test(quote.units[quote.key]!.text) ? sought.count : 0,
      soughtNear: sought && units.some(({ text }) => sought.test(text)) ? sought.count : 0,
    };
    return { features, matched: shown };
  };
}

/** All words of a text as terms, each between spaces. */
const wordLine = remembered((text) => ` ${tokensOf(text).join(' ')} `);

/** The part of a title's words that were asked; numbers and 'readme' do not count. */
function shareAsked(title: string, asked: ReadonlySet<string>): number {
  const terms = titleTerms(title);
  return terms.length === 0 ? 0 : terms.filter((term) => asked.has(term)).length / terms.length;
}

const titleTerms = remembered((title) => termsOf(title).filter((term) => !/^(?:\d+|readm)$/.test(term)));
