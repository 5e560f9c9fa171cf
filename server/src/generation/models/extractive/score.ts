import { bareName } from '../../../domain/document.ts';
import type { Sought } from '../../retrieval/question.ts';
import {
  contextWeights,
  coverageOf,
  largerWeights,
  matchedWeights,
  type WeighedConcept,
} from '../../retrieval/ranking.ts';
import { remembered, stopWords, termsOf, tokensIn, tokensOf } from '../../retrieval/terms.ts';
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
  /** The part of the question's pairs of neighbouring words that are neighbours in the passage. */
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

/** What is compared with every passage, computed once per question. */
export interface Query {
  readonly concepts: readonly WeighedConcept[];
  /** Matches a sentence that has what the question asks for. */
  readonly sought: Sought | undefined;
  /** All terms that match its concepts. */
  readonly terms: ReadonlySet<string>;
  /** Its words in order, as terms and without stop words. */
  readonly sequence: readonly string[];
}

export function queryOf({ text }: Question, concepts: readonly WeighedConcept[], sought?: Sought): Query {
  return {
    concepts,
    sought,
    terms: new Set(concepts.flatMap(({ wordings }) => wordings.map(({ term }) => term))),
    sequence: tokensOf(text).filter((token) => !stopWords.has(token)),
  };
}

export function featuresOf(
  { concepts, sought, terms, sequence }: Query,
  quote: Quote,
  rank: number,
): { features: Features; matched: readonly number[] } {
  const { passage } = quote;
  const units = shownUnits(quote);
  const context = contextWeights(concepts, passage);
  const shown = units
    .map((unit) => matchedWeights(concepts, withHeader(unit)))
    .reduce(largerWeights, context);
  const all = largerWeights(context, matchedWeights(concepts, passage.text));
  const heading = innermostHeading(passage);
  const tokens = tokensIn(passage.text);
  const features = {
    rank,
    quote: coverageOf(concepts, shown),
    words: all.filter((weight) => weight > 0).length / Math.max(1, concepts.length),
    pairs: commonPairs(sequence, tokensIn(passage.heading), tokens),
    heading: shareAsked(heading, terms),
    name: Math.max(shareAsked(passage.title, terms), shareAsked(bareName(passage.name), terms)),
    length: Math.min(1, tokens.length / 200),
    sought: sought?.test(quote.units[quote.key]!.text) ? sought.count : 0,
    soughtNear: sought && units.some(({ text }) => sought.test(text)) ? sought.count : 0,
  };
  return { features, matched: shown };
}

/** The part of a title's words that were asked; numbers and 'readme' do not count. */
function shareAsked(title: string, asked: ReadonlySet<string>): number {
  const terms = titleTerms(title);
  return terms.length === 0 ? 0 : terms.filter((term) => asked.has(term)).length / terms.length;
}

const titleTerms = remembered((title) => termsOf(title).filter((term) => !/^(?:\d+|readm)$/.test(term)));

/** The part of the neighbours in `sequence` that are neighbours in one of the texts. */
function commonPairs(sequence: readonly string[], ...texts: readonly (readonly string[])[]): number {
  let found = 0;
  for (let at = 1; at < sequence.length; at++) {
    if (texts.some((tokens) => areNeighbours(tokens, sequence[at - 1]!, sequence[at]!))) found++;
  }
  return found / Math.max(1, sequence.length - 1);
}

function areNeighbours(tokens: readonly string[], first: string, second: string): boolean {
  for (let at = tokens.indexOf(first); at >= 0; at = tokens.indexOf(first, at + 1)) {
    if (tokens[at + 1] === second) return true;
  }
  return false;
}
