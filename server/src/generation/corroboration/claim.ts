import type { FoundPassage } from '../../domain/document.ts';
import { sentencesOf } from '../reading/passage-parts.ts';
import { synonymsOf } from '../retrieval/other-wordings.ts';
import { stopWords, termOf, tokensOf, wordsOf } from '../retrieval/terms.ts';
import { type Figure, figuresOf } from './figures.ts';

/** A statement, read once and compared with many passages. */
export interface Claim {
  readonly wording: string;
  /** Its content words, without figures and their units. `others` are synonyms of the term. */
  readonly terms: readonly { readonly term: string; readonly others: readonly string[] }[];
  readonly tokens: ReadonlySet<string>;
  /** Its words with a capital letter. */
  readonly names: readonly string[];
  readonly figures: readonly Figure[];
  /** The terms that it denies. */
  readonly negated: ReadonlySet<string>;
}

/** A passage, read once and compared with many statements. */
export interface Evidence {
  readonly sentences: readonly string[];
  readonly wordings: readonly string[];
  readonly figures: readonly (readonly Figure[])[];
  readonly negated: readonly ReadonlySet<string>[];
  /** The sentences that contain a term, in order. */
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** The terms of heading and title, which apply to every sentence. */
  readonly context: ReadonlySet<string>;
}

export function readClaim(statement: string): Claim {
  const plain = statement.replace(/[*_`]+/g, '');
  const words = wordsOf(plain);
  const tokens = words.map(termOf);
  const figures = figuresOf(plain);
  const units = new Set(figures.map(({ unit }) => termOf(unit ?? '')));
  const terms = new Map<string, Claim['terms'][number]>();
  for (const [at, word] of words.entries()) {
    const term = tokens[at]!;
    if (stopWords.has(word) || terms.has(term) || /^\d/.test(term) || units.has(term)) continue;
    terms.set(term, { term, others: synonymsOf(term) });
  }
  return {
    wording: words.join(' '),
    terms: [...terms.values()],
    tokens: new Set(tokens),
    names: namesOf(plain),
    figures,
    negated: negatedTerms(plain),
  };
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
  return {
    sentences,
    wordings: words.map((one) => one.join(' ')),
    figures: sentences.map(figuresOf),
    negated: sentences.map(negatedTerms),
    holders,
    context: new Set(tokensOf(`${title}. ${heading}`)),
  };
}

const capitalised = /(?<=[\p{L}\p{N},;)]["”’]?\s)["“(]?(\p{Lu}[\p{L}\p{N}-]+)/gu;

/** Words with a capital letter, except the first of a sentence. */
function namesOf(statement: string): string[] {
  const words = [...statement.matchAll(capitalised)].flatMap((match) => wordsOf(match[1]!));
  return [...new Set(words)].filter((word) => !stopWords.has(word));
}

const cues = new Set('not no never cannot none nor neither nobody nothing'.split(' '));
/** How many words a negation reaches, stop words not counted. */
const negatedMax = 2;
/** How many words after a 'not' are checked, so that 'not not not …' takes linear time. */
const reachMax = 30;

/** The terms that follow a negating word within its clause. */
function negatedTerms(text: string): Set<string> {
  const negated = new Set<string>();
  for (const clause of text.split(/[,;:()—–]|\bbut\b|\bunless\b|\bexcept\b/i)) {
    const words = wordsOf(clause);
    for (const [at, word] of words.entries()) {
      if (!cues.has(word) || words[at + 1] === 'only') continue;
      const following = words.slice(at + 1, at + 1 + reachMax);
      // 'not used for 30 days' negates only the verb, not the words after it.
      const end = following.includes('used') ? following.indexOf('used') : reachMax;
      const said = following.slice(0, end).filter((next) => !stopWords.has(next) && !/^\d/.test(next));
      for (const next of said.slice(0, negatedMax)) negated.add(termOf(next));
    }
  }
  return negated;
}
