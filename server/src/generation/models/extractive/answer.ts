import type { SearchFindings } from '../../retrieval/search.ts';
import { confidence, coverageOf, unknownNameOf } from './confidence.ts';
import { type Quote, quoteFrom } from './quote.ts';

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
export const passagesMax = 6;
const closestMax = 3;
/** Words of the first quote, of a second one, and of each that only comes closest. */
const words = { first: 80, further: 30, closest: 25 };
/** How much the rank of a passage counts against how well its best sentence answers. */
const rankWeight = 0.75;

/** To a question that is one of `parts`. */
export function answerTo(text: string, findings: SearchFindings, parts: number): Answer {
  const { question, passages, scores } = findings;
  const wordsMax = Math.round(words.first / Math.min(parts, 2));
  const candidates = passages
    .flatMap((passage, at) => {
      const quote = quoteFrom(question, passage, wordsMax);
      if (quote === undefined) return [];
      const score = quote.score + rankWeight * (scores[at]! / scores[0]!);
      return [{ quote, score, coverage: coverageOf(question, quote) }];
    })
    .sort((a, b) => b.score - a.score);
  const [best, second] = candidates;
  if (best === undefined || best.coverage < confidence.closest) {
    return { question: text, level: 'nothing', quotes: [] };
  }
  const shortQuote = ({ quote }: { quote: Quote }, max: number) => quoteFrom(question, quote.passage, max)!;
  const unknownName = unknownNameOf(question, text);
  if (best.coverage >= confidence.answer && unknownName === undefined) {
    const isUseful =
      second !== undefined &&
      second.coverage >= confidence.further * best.coverage &&
      second.score >= confidence.further * best.score;
    const further = isUseful ? [shortQuote(second, words.further)] : [];
    return { question: text, level: 'answer', quotes: [best.quote, ...further] };
  }
  const coverageMin = Math.max(confidence.closest, confidence.asClose * best.coverage);
  const closest = candidates.filter(({ coverage }) => coverage >= coverageMin).slice(0, closestMax);
  const quotes = closest.map((one) => shortQuote(one, words.closest));
  return { question: text, level: 'closest', quotes, unknownName };
}
