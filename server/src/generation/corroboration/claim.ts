import { stopWords } from '../retrieval/stop-words.ts';
import { synonymsOf } from '../retrieval/synonyms.ts';
import { termOf, wordsOf } from '../retrieval/terms.ts';
import { type Figure, figuresOf } from './figures.ts';
import { negatedTerms } from './negation.ts';

/** A statement, read once and held against many passages. */
export interface Claim {
  /** All of its words. */
  readonly wording: string;
  /** What it speaks of, without figures and what they count. `others`: words that may stand for the term. */
  readonly terms: readonly { readonly term: string; readonly others: readonly string[] }[];
  readonly tokens: ReadonlySet<string>;
  /** As words. */
  readonly names: readonly string[];
  readonly figures: readonly Figure[];
  /** The terms that it denies. */
  readonly negated: ReadonlySet<string>;
}

export function readClaim(statement: string): Claim {
  const plain = statement.replace(/[*_`]+/g, '');
  const words = wordsOf(plain);
  const tokens = words.map(termOf);
  const figures = figuresOf(plain);
  const units = new Set(figures.map(({ unit }) => termOf(unit ?? '')));
  const terms = new Map<string, { term: string; others: readonly string[] }>();
  for (const [at, word] of words.entries()) {
    const term = tokens[at]!;
    if (stopWords.has(word) || terms.has(term) || /^\d/.test(term) || units.has(term)) continue;
    terms.set(term, { term, others: synonymsOf(term) });
  }
  return {
    wording: words.join(' '),
    terms: [...terms.values()],
    tokens: new Set(tokens),
    names: [...new Set(namesOf(plain))],
    figures,
    negated: negatedTerms(plain),
  };
}

/** How a name may be written otherwise: 'UK' as 'Britain'. As terms. */
export function formsOfName(name: string): string[] {
  const term = termOf(name);
  return [term, ...synonymsOf(term)];
}

const capitalised = /(?<=[\p{L}\p{N},;)]["”’]?\s)["“(]?(\p{Lu}[\p{L}\p{N}-]+)/gu;

/** Words with a capital within a sentence. */
function namesOf(statement: string): string[] {
  return [...statement.matchAll(capitalised)]
    .flatMap((match) => wordsOf(match[1]!))
    .filter((word) => !stopWords.has(word));
}
