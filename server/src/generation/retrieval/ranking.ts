import type { FoundPassage } from '../../domain/document.ts';
import { bareName } from '../reading/formats.ts';
import { givesAnswerOf } from './answer-kind.ts';
import type { Concept, Question, Wording } from './question.ts';
import { tokensOf } from './terms.ts';

export interface WeighedWording extends Wording {
  /** Certainty times rarity. */
  readonly weight: number;
  readonly held: number;
}

/** A concept as the library knows it: `wordings` are those that some passage holds, `weight` how much its word tells. */
export interface WeighedConcept extends Omit<Concept, 'wordings'> {
  readonly wordings: readonly WeighedWording[];
  readonly weight: number;
}

export interface WeighedQuestion extends Omit<Question, 'concepts'> {
  readonly concepts: readonly WeighedConcept[];
  /** How much a word would tell that no passage holds. */
  readonly rarityMax: number;
}

/** Found by hand on the questions marked `tune` of bench/evaluation; `npm run bench -- --only answers` judges them. */
export const weights = {
  /** How soon more of the same word tells nothing more. */
  saturation: 1.6,
  /** What a word counts in a heading and in a title, against one in the text. */
  heading: 2,
  title: 2.5,
  /** For words that stand together in the question and in the passage. */
  joined: 0.4,
  /** For having what is asked for: a duration, an amount, a name. */
  kind: 0.12,
  /** For introducing a document whose title speaks of all that was asked. */
  introduction: 0.4,
  /** For saying what the thing is that was asked about. */
  definition: 1,
  /** How much of the score is lost where nothing of the question is spoken of. */
  coverage: 0.5,
};

export interface RankedPassage<P extends FoundPassage = FoundPassage> {
  readonly passage: P;
  readonly score: number;
}

/** Best first, near-identical ones once. */
export function rankPassages<P extends FoundPassage>(
  question: WeighedQuestion,
  passages: readonly P[],
  limit: number,
): RankedPassage<P>[] {
  const ranked = passages
    .map((passage) => ({ passage, score: scoreOf(question, read(question, passage)) }))
    .sort((a, b) => b.score - a.score);
  return distinct(ranked, limit);
}

interface Reading<P> {
  readonly passage: P;
  readonly text: Places;
  readonly heading: Places;
  readonly title: Places;
  /** Per concept: the weight of the best wording, wherever it stands. */
  readonly told: readonly number[];
}

function read<P extends FoundPassage>(question: WeighedQuestion, passage: P): Reading<P> {
  const text = placesOf(question, tokensOf(passage.text));
  const heading = placesOf(question, tokensOf(passage.heading));
  const title = placesOf(question, tokensOf(titleAndName(passage)));
  const told = question.concepts.map((_, at) => Math.max(text.best[at]!, heading.best[at]!, title.best[at]!));
  return { passage, text, heading, title, told };
}

/** A file's name often says what its title does not: the tool that it describes. */
export function titleAndName({ title, name }: FoundPassage): string {
  return `${title}\n${bareName(name)}`;
}

function scoreOf(
  question: WeighedQuestion,
  { passage, text, heading, title, told }: Reading<FoundPassage>,
): number {
  const { saturation } = weights;
  let sum = 0;
  let total = 0;
  let spokenOf = 0;
  for (const [at, { weight }] of question.concepts.entries()) {
    const frequency =
      text.counts[at]! + weights.heading * heading.counts[at]! + weights.title * title.counts[at]!;
    total += weight;
    spokenOf += Math.min(told[at]!, weight);
    sum += told[at]! * ((frequency * (1 + saturation)) / (frequency + saturation));
  }
  sum += weights.joined * (joinedness(question, text) + joinedness(question, heading));
  if (passage.heading === '' && title.best.every((weight) => weight > 0)) sum += weights.introduction * total;
  if (question.definition?.test(passage.text)) sum += weights.definition * total;
  else if (question.wants !== undefined && givesAnswerOf(question.wants, passage.text))
    sum += weights.kind * total;
  return sum * (1 - weights.coverage + (weights.coverage * spokenOf) / (total || 1));
}

/** Where the concepts stand in a text. */
interface Places {
  /** Per concept: how often, and the weight of the best wording found. */
  readonly counts: number[];
  readonly best: number[];
  /** In order of the text. */
  readonly found: { readonly place: number; readonly concept: number; readonly weight: number }[];
}

export function placesOf({ concepts }: WeighedQuestion, tokens: readonly string[]): Places {
  const places: Places = {
    counts: concepts.map(() => 0),
    best: concepts.map(() => 0),
    found: [],
  };
  const byFirst = wordingsByFirstToken(concepts);
  for (const [place, token] of tokens.entries()) {
    for (const { concept, wording } of byFirst.get(token) ?? []) {
      if (!wording.phrase.every((part, offset) => tokens[place + offset] === part)) continue;
      places.counts[concept]! += wording.certainty;
      places.best[concept] = Math.max(places.best[concept]!, wording.weight);
      places.found.push({ place, concept, weight: wording.weight });
    }
  }
  return places;
}

type WordingOfConcept = { concept: number; wording: WeighedWording };
const indexes = new WeakMap<readonly WeighedConcept[], Map<string, WordingOfConcept[]>>();

function wordingsByFirstToken(concepts: readonly WeighedConcept[]): Map<string, WordingOfConcept[]> {
  const known = indexes.get(concepts);
  if (known !== undefined) return known;
  const index = new Map<string, WordingOfConcept[]>();
  for (const [concept, { wordings }] of concepts.entries()) {
    for (const wording of wordings) {
      const first = wording.phrase[0]!;
      index.set(first, [...(index.get(first) ?? []), { concept, wording }]);
    }
  }
  indexes.set(concepts, index);
  return index;
}

/** The weight of neighbours in the question that are neighbours in the text too, in the same order. */
function joinedness({ concepts }: WeighedQuestion, { found }: Places): number {
  const joined = new Map<number, number>();
  for (const [at, { place, concept, weight }] of found.entries()) {
    for (let before = at - 1; before >= 0 && found[before]!.place >= place - 3; before--) {
      const other = found[before]!;
      if (other.concept !== concept - 1 || other.place === place || !concepts[concept]!.joined) continue;
      joined.set(concept, Math.max(joined.get(concept) ?? 0, weight + other.weight));
    }
  }
  return [...joined.values()].reduce((a, b) => a + b, 0);
}

const sameShare = 0.9;

/** Leaves out what says the same as a better one, word for word or nearly so: with other figures it says something else. */
function distinct<P extends FoundPassage>(
  ranked: readonly RankedPassage<P>[],
  limit: number,
): RankedPassage<P>[] {
  const kept: { one: RankedPassage<P>; words: ReadonlySet<string>; figures: string }[] = [];
  for (const one of ranked) {
    if (kept.length === limit) break;
    const words = new Set(tokensOf(one.passage.text));
    const figures = [...words]
      .filter((word) => /^\d/.test(word))
      .sort()
      .join(' ');
    const isKnown = kept.some(
      (other) => other.figures === figures && overlap(other.words, words) >= sameShare,
    );
    if (!isKnown) kept.push({ one, words, figures });
  }
  return kept.map(({ one }) => one);
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  return common / Math.max(1, a.size + b.size - common);
}
