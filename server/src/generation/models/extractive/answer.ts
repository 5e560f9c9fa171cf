import type { FoundPassage } from '../../../domain/document.ts';
import { soughtBy } from '../../retrieval/question.ts';
import { titleAndName, toldBy } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { wordsOf } from '../../retrieval/terms.ts';
import { coverageOfQuote, keyUnitOf, type Quote, quoteAround } from './quote.ts';

/** What the documents say to one question. */
export interface Answer {
  readonly question: string;
  /** Whether the quotes answer it, come closest, or are none. */
  readonly level: 'answer' | 'closest' | 'nothing';
  readonly quotes: readonly Quote[];
  /** A thing that was asked about and that no document mentions. */
  readonly unknownName?: string | undefined;
}

/** How many passages are compared for each question. */
export const passagesMax = 8;
const closestMax = 3;
/** Words of a quote, by the number of questions in a prompt, so that a reply has 120 at most. */
const words = { first: [84, 42, 28], closest: [27, 27, 15], further: 32 };

/** What it counts that a passage is of the document that answered the part before. */
const sameDocument = 0.3;

/** Found on the questions of the half `tune` in bench/evaluation. */
const confidence = {
  /** How much of what was asked a quote must speak of to be worth showing; to be an answer, together with its lead. */
  closest: 0.3,
  answer: 0.78,
  /** How much the lead of the best quote over the next one counts, and the most of it. */
  lead: 0.5,
  leadMax: 0.5,
  /** How much of what the best quote speaks of a second one must speak of. */
  further: 0.92,
  /** The same among the closest. */
  asClose: 0.7,
};

/** To a question that is one of `parts`; those before it were answered from the document `about`. */
export function answerTo(question: string, findings: SearchFindings, parts: number, about?: string): Answer {
  const { concepts, ranked } = findings;
  const sought = soughtBy(question);
  const wordsMax = words.first[parts - 1]!;
  const candidates = ranked
    .flatMap((one) => {
      const unit = keyUnitOf(concepts, sought, one);
      if (unit === undefined) return [];
      const quote = quoteAround(one.passage, unit.key, wordsMax);
      const score = unit.score + (one.passage.documentId === about ? sameDocument : 0);
      return [{ quote, score, coverage: coverageOfQuote(concepts, quote) }];
    })
    .sort((a, b) => b.score - a.score);
  const [best, second] = candidates;
  if (best === undefined || best.coverage < confidence.closest) {
    return { question, level: 'nothing', quotes: [] };
  }
  const shortQuote = ({ quote }: { quote: Quote }, max: number) => quoteAround(quote.passage, quote.key, max);
  const unknownName = unknownNameOf(findings, question);
  const isSure =
    best.coverage + confidence.lead * Math.min(best.score - (second?.score ?? 0), confidence.leadMax) >=
    confidence.answer;
  if (isSure && unknownName === undefined && !isAboutAnother(findings, best.quote.passage)) {
    const isUseful =
      parts === 1 &&
      second !== undefined &&
      second.coverage >= confidence.further * best.coverage &&
      second.score >= confidence.further * best.score;
    const further = isUseful ? [shortQuote(second, words.further)] : [];
    return { question, level: 'answer', quotes: [best.quote, ...further] };
  }
  const coverageMin = Math.max(confidence.closest, confidence.asClose * best.coverage);
  const closest = candidates.filter(({ coverage }) => coverage >= coverageMin).slice(0, closestMax);
  const quotes = closest.map((one) => shortQuote(one, words.closest[parts - 1]!));
  return { question, level: 'closest', quotes, unknownName };
}

/** Whether the question names the subject of another document, such as a tool, that this passage does not mention. */
function isAboutAnother({ concepts, ranked }: SearchFindings, passage: FoundPassage): boolean {
  const text = `${titleAndName(passage)}\n${passage.heading}\n${passage.text}`;
  const told = toldBy(concepts, text);
  const titles = ranked.map((one) => toldBy(concepts, titleAndName(one.passage)));
  return told.some((weight, at) => weight === 0 && titles.some((title) => title[at]! > 0));
}

/** A word with this share of a question decides what it is about: 'Do you accept bitcoin?' */
const decisiveShare = 0.42;
const placing = new Set('to in from within outside for with on using via at of like'.split(' '));

/**
 * A thing that was asked about and that no document mentions: 'to Canada', 'with docker'. What the documents say of others
 * is no answer about it.
 */
function unknownNameOf({ concepts }: SearchFindings, question: string): string | undefined {
  const asked = wordsOf(question);
  return concepts.find(({ wordings, word, share }) => {
    if (wordings.length > 0) return false;
    const at = asked.indexOf(word);
    const isPlaced = placing.has(asked[at - 1] ?? '') || placing.has(asked[at - 2] ?? '');
    const isCapitalised = question.includes(`${word.charAt(0).toUpperCase()}${word.slice(1)}`);
    return isPlaced || (at > 0 && isCapitalised) || share >= decisiveShare;
  })?.word;
}
