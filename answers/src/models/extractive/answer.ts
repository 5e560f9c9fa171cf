import { priceAsked } from '../../retrieval/question.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { splitWords } from '../../retrieval/terms.ts';
import type { Question } from './asking.ts';
import { compareUnits, quoteAround } from './quote.ts';
import { confidenceWeights, createComparer, scoreFeatures } from './score.ts';

/** What the documents say about one question: quotes that answer it, only the closest ones, or nothing. */
export type Answer = ReturnType<typeof answerTo>;

/** The best quote from one passage. */
export type Candidate = ReturnType<typeof candidatesFor>[number];

/** How many passages are compared for each question. */
export const passagesMax = 10;
const closestMax = 3;
/** Words per quote, so that a reply has at most 120. Several questions in a prompt share those of one. */
const words = { alone: 84, pair: [70, 44], closest: [27, 27, 15] } as const;
/** A second quote is shown if its share is at least this part of the first one's: more if that covers the whole question. */
const pairMin = { covered: 0.25, uncovered: 0.08 };
const wholeCoverage = 0.95;
/** The share of the question that a quote must cover to be shown, and to be an answer. */
const coverageMin = { closest: 0.3, answer: 0.5 };

/** A word with this share of a question decides what it is about: 'Do you accept bitcoin?' */
const decisiveShare = 0.42;
const placing = new Set('to in from within outside for with on using via at of like'.split(' '));

/** 'What is 2+2?' is not about the documents, unlike 'What does 429 mean?' */
const sum = /\d\s*[-+*/×^]\s*\d/;

/** Answers a question that is one of `parts` in a prompt. */
export function answerTo(question: Question, findings: SearchFindings, parts: number) {
  const wordsMax = words.alone / parts;
  const candidates = candidatesFor(question, findings, wordsMax);
  const [best] = candidates;
  const isSum = sum.test(question.text) && !findings.concepts.some(({ word }) => /\p{L}/u.test(word));
  if (isSum || best === undefined || best.features.quote < coverageMin.closest) {
    return { question, level: 'nothing', quotes: [] } as const;
  }
  const unknownName = unknownNameIn(question, findings);
  const shown = parts === 1 ? chooseShown(candidates) : [best];
  // A price has a currency sign: a sentence without one is not an answer.
  const hasPrice = !priceAsked.test(question.text) || shown.some(({ features }) => features.expected > 0);
  const isCovered = best.features.quote >= coverageMin.answer;
  const isAnswer = unknownName === undefined && hasPrice && isCovered && estimateConfidence(shown) >= 0;
  const near = candidates.filter(({ features }) => features.quote >= coverageMin.closest);
  const chosen = isAnswer ? shown : near.slice(0, closestMax / parts);
  const answerWords = shown.length > 1 ? words.pair : [wordsMax];
  const quotes = chosen.map(({ quote: { passage, key } }, at) =>
    quoteAround(passage, key, isAnswer ? answerWords[at]! : words.closest[parts - 1]!),
  );
  return { question, level: isAnswer ? 'answer' : 'closest', quotes, unknownName } as const;
}

/** Subtracted from a quote that earlier replies already contain in full and that lacks what is asked for. */
const repetitionCost = 2;

/** One candidate per passage, best first. */
export function candidatesFor(question: Question, findings: SearchFindings, wordsMax: number) {
  const measureFeatures = createComparer(question, findings);
  const scored = findings.ranked.flatMap(({ passage, score: rank }) => {
    const units = compareUnits(findings, passage, wordsMax, question.earlierReplies);
    if (units.length === 0) return [];
    const scores = units.map(({ score }) => score);
    const key = scores.indexOf(Math.max(...scores));
    const quote = quoteAround(passage, key, wordsMax);
    const features = measureFeatures(quote, units, rank);
    const isRepeated = units.slice(quote.from, quote.to + 1).every((unit) => unit.isRepeated);
    return [{ quote, features, score: scoreFeatures(features) - (isRepeated ? repetitionCost : 0) }];
  });
  const total = scored.reduce((sum, { score }) => sum + Math.exp(score), 0);
  /** `share`: the estimated probability that this quote is the best one. */
  const candidates = scored.map((one) => ({ ...one, share: Math.exp(one.score) / total }));
  return candidates.sort((a, b) => b.score - a.score);
}

/** The best candidate, and the next one if it is nearly as good. */
export function chooseShown(candidates: readonly Candidate[]): readonly Candidate[] {
  const [best, second] = candidates as [Candidate, Candidate | undefined];
  if (second === undefined) return [best];
  const shareMin = best.features.quote >= wholeCoverage ? pairMin.covered : pairMin.uncovered;
  return second.share >= shareMin * best.share ? [best, second] : [best];
}

/** Positive if the quotes are likely enough to contain the answer. */
function estimateConfidence(shown: readonly Candidate[]): number {
  const { best, share, coverage, threshold } = confidenceWeights;
  const shares = shown.reduce((sum, one) => sum + one.share, 0);
  return best * shown[0]!.share + share * shares + coverage * shown[0]!.features.quote - threshold;
}

/** Finds a thing that the question asks about and that no document mentions: 'to Canada', 'with docker'. */
function unknownNameIn({ text, context }: Question, { concepts }: SearchFindings): string | undefined {
  const questionText = `${text} ${context}`;
  const words = splitWords(questionText);
  const unknown = concepts.filter(({ wordings }) => wordings.length === 0);
  return unknown.find(({ word, weight }) => {
    const at = words.indexOf(word);
    const isPlaced = words.slice(Math.max(0, at - 2), at).some((before) => placing.has(before));
    const isCapitalized = at > 0 && questionText.includes(`${word.charAt(0).toUpperCase()}${word.slice(1)}`);
    return isPlaced || isCapitalized || weight >= decisiveShare;
  })?.word;
}
