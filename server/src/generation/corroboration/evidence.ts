import type { FoundPassage } from '../../domain/document.ts';
import { sentencesOf } from '../reading/sentences.ts';
import { termOf, tokensOf, wordsOf } from '../retrieval/terms.ts';
import { type Figure, figuresOf } from './figures.ts';
import { negatedTerms } from './negation.ts';

/** A passage, read once and held against many statements. */
export interface Evidence {
  readonly sentences: readonly string[];
  /** Per sentence: all of its words. */
  readonly wordings: readonly string[];
  readonly figures: readonly (readonly Figure[])[];
  readonly negated: readonly ReadonlySet<string>[];
  /** The sentences that hold a term, in order. */
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** What heading and title say is said of every sentence. */
  readonly context: ReadonlySet<string>;
  readonly contextFigures: readonly Figure[];
}

export function readEvidence({ title, heading, text }: FoundPassage): Evidence {
  const sentences = sentencesOf(text);
  const words = sentences.map(wordsOf);
  const holders = new Map<string, number[]>();
  for (const [at, one] of words.entries()) {
    for (const token of new Set(one.map(termOf))) {
      const known = holders.get(token);
      if (known === undefined) holders.set(token, [at]);
      else known.push(at);
    }
  }
  const context = `${title}. ${heading}`;
  return {
    sentences,
    wordings: words.map((one) => one.join(' ')),
    figures: sentences.map(figuresOf),
    negated: sentences.map(negatedTerms),
    holders,
    context: new Set(tokensOf(context)),
    contextFigures: figuresOf(context),
  };
}
