import {
  type AnswerKind,
  answerKindOf,
  asksWhereIs,
  countOf,
  definitionOf,
  locationOf,
} from './answer-kind.ts';
import { stopWords } from './stop-words.ts';
import { synonymsAt } from './synonyms.ts';
import { termOf, wordsOf } from './terms.ts';

/** Words that stand for a concept, one after the other, and how surely: 1 for the question's own. */
export interface Wording {
  readonly phrase: readonly string[];
  readonly certainty: number;
}

/** One thing that the question speaks of. */
export interface Concept {
  readonly term: string;
  /** As it was asked. */
  readonly word: string;
  /** The question's own word first. */
  readonly wordings: readonly Wording[];
  /** Whether the concept before stands next to it in the question. */
  readonly joined: boolean;
}

export interface Question {
  /** Every word in order, as a term. */
  readonly tokens: readonly string[];
  readonly concepts: readonly Concept[];
  readonly wants: AnswerKind | undefined;
  /** Where it asks what or where something is, or how many there are: matches a text that says so. */
  readonly definition: RegExp | undefined;
}

/** What is read of a question; the rest of a long one changes nothing. */
const readLengthMax = 2_000;
const conceptsMax = 24;
const wordingsMax = 12;
const definedWordsMax = 4;

export const synonymCertainty = 0.6;

/** Of the question, and not of what it is about. */
const filler = new Set(
  `ago answer ask curious describe detail details example exactly explain find info list question show
  summarise summarize summary tell understand wonder wondering difference`.split(/\s+/),
);

const measureWords = new Set('long soon often far big old fast quickly large heavy hot'.split(' '));

export function readQuestion(text: string): Question {
  const words = wordsOf(text.slice(0, readLengthMax));
  const tokens = words.map(termOf);
  const synonyms = synonymsByPlace(tokens);
  const concepts = new Map<string, Concept>();
  let last = -2;
  for (const [at, word] of words.entries()) {
    if (stopWords.has(word) || filler.has(word) || isOfTheQuestion(words, at)) continue;
    const term = tokens[at]!;
    const joined = last >= at - 2;
    last = at;
    if (concepts.has(term) || concepts.size === conceptsMax) continue;
    const own: Wording = { phrase: [term], certainty: 1 };
    const others = (synonyms.get(at) ?? []).map((phrase) => ({ phrase, certainty: synonymCertainty }));
    concepts.set(term, { term, word, joined, wordings: distinct([own, ...others]).slice(0, wordingsMax) });
  }
  const wants = answerKindOf(text);
  const asked = [...concepts.values()];
  return { tokens, concepts: asked, wants, definition: definitionAsked(text, asked, wants) };
}

function definitionAsked(
  text: string,
  asked: readonly Concept[],
  wants: AnswerKind | undefined,
): RegExp | undefined {
  const counted = /\bhow many (\p{L}{3,})/iu.exec(text)?.[1];
  if (counted !== undefined) return countOf(counted);
  if (asked.length === 0 || asked.length > definedWordsMax) return undefined;
  const words = asked.map(({ word }) => word);
  if (wants === 'definition') return definitionOf(words);
  return wants === 'place' && asksWhereIs(text) ? locationOf(words) : undefined;
}

function distinct(wordings: readonly Wording[]): Wording[] {
  const known = new Set<string>();
  return wordings.filter(({ phrase }) => {
    const key = phrase.join(' ');
    return !known.has(key) && known.add(key);
  });
}

/**
 * 'long' of 'how long' asks for a duration, and nothing is said to be long; 'work' of 'how does it work' and 'offer' of
 * 'do you offer' say nothing.
 */
function isOfTheQuestion(words: readonly string[], at: number): boolean {
  const word = words[at]!;
  if (words[at - 1] === 'you' && (word === 'offer' || word === 'provide')) return true;
  if (words[at - 1] === 'how') return measureWords.has(word);
  return at === words.length - 1 && words[0] === 'how' && (word === 'work' || word === 'works');
}

/** What stands for several words stands for each of them: 'sso' for both 'single' and 'sign'. */
function synonymsByPlace(tokens: readonly string[]): Map<number, readonly (readonly string[])[]> {
  const places = new Map<number, readonly (readonly string[])[]>();
  for (const start of tokens.keys()) {
    for (const { length, others } of synonymsAt(tokens, start)) {
      for (let at = start; at < start + length; at++) places.set(at, [...(places.get(at) ?? []), ...others]);
    }
  }
  return places;
}
