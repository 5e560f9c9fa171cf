import type { FoundPassage } from '../../port/documents.ts';
import {
  countWords,
  headerLine,
  joinedUnits,
  joinUnits,
  splitUnits,
  type Unit,
  withoutTable,
} from '../../reading/passage-parts.ts';
import { extractPartTerms, largerWeights, matchedWeights, measureCoverage } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { memoizedByText, termCounts } from '../../retrieval/terms.ts';

/** Score adjustments for a unit that has words of the question, has what it asks for, is code, or was quoted before. */
const weights = { own: 0.3, expected: 0.4, code: -0.3, repeated: -0.4 };

export type ComparedUnit = ReturnType<typeof compareUnits>[number];

/** An answer shows at least this many words of a unit that is too long. */
const shownWordsMin = 28;

/** Compares the units of a passage with a question. One that is too long counts as its beginning, which a quote shows. */
export function compareUnits(
  { concepts, countExpected }: SearchFindings,
  passage: FoundPassage,
  wordsMax: number,
  earlierReplies = '',
) {
  const quoted = withoutBold(earlierReplies);
  // The title and the heading apply to each unit.
  const { title, heading } = extractPartTerms(passage);
  const context = largerWeights(matchedWeights(concepts, title), matchedWeights(concepts, heading));
  const hasOwnWords = concepts.some(({ isContext }) => !isContext);
  return splitUnitsOnce(passage.text).map((whole) => {
    const unit = cutUnit(whole, wordsMax);
    const own = matchedWeights(concepts, termCounts(withHeader(unit)));
    const matched = largerWeights(context, own);
    const has = countExpected?.(unit.text) ?? 0;
    const isAsked = hasOwnWords && concepts.every(({ isContext }, at) => isContext || own[at]! > 0);
    const beginning = () => withoutBold(withoutFootnotes(firstWords(unit, shownWordsMin)));
    // What the question asks for, or all of its own words, may be quoted again.
    const isRepeated = quoted !== '' && has === 0 && !isAsked && quoted.includes(beginning());
    const score =
      measureCoverage(concepts, matched) +
      weights.own * measureCoverage(concepts, own) +
      weights.expected * has +
      (unit.kind === 'code' ? weights.code : 0) +
      (isRepeated ? weights.repeated : 0);
    return { matched, expected: has, isRepeated, score };
  });
}

function firstWords({ text }: Unit, count: number): string {
  return text.split(' ').slice(0, count).join(' ');
}

function withoutBold(text: string): string {
  return text.replaceAll('**', '');
}

export function innermostHeading({ heading }: FoundPassage): string {
  return heading.split(' › ').at(-1)!;
}

/** A part of a passage: the units from `from` to `to`, and the key unit, which answers best. */
export type Quote = ReturnType<typeof quoteAround>;

/** The units around the key unit, as many as fit; of a key unit that is too long, its beginning. */
export function quoteAround(passage: FoundPassage, key: number, wordsMax: number) {
  const all = splitUnitsOnce(passage.text);
  const units = all.with(key, cutUnit(all[key]!, wordsMax));
  let [from, to] = [key, key];
  let left = wordsMax - wordsWithHeader(units[key]!);
  const take = (at: number) => {
    const unit = units[at];
    if (unit === undefined || unit.words > left) return false;
    left -= unit.words;
    return true;
  };
  // The sentence before explains a pronoun.
  if (take(key - 1)) from = key - 1;
  while (take(to + 1)) to++;
  while (take(from - 1)) from--;
  return { passage, units, key, from, to };
}

/** A row that is too long is quoted without its table. */
function cutUnit(whole: Unit, wordsMax: number): Unit {
  if (wordsWithHeader(whole) <= wordsMax) return whole;
  const unit = withoutTable(whole);
  if (unit.words <= wordsMax) return unit;
  return { ...unit, text: `${firstWords(unit, wordsMax)} …`, words: wordsMax };
}

function wordsWithHeader(unit: Unit): number {
  return unit.header === undefined ? unit.words : unit.words + countWords(headerLine(unit));
}

/** A cell of a row says little without the header of its column. */
export function withHeader({ text, header }: Unit): string {
  return header === undefined ? text : `${header}\n${text}`;
}

const splitUnitsOnce = memoizedByText(splitUnits);

/** A heading such as `maxAge` or `--port` names what the text below it describes, so the quote needs it. */
const identifier = /^(?:-\S+|[\w.]*[a-z][A-Z]\w*(?:\(\))?)$/;

export function shownHeading(passage: FoundPassage): string {
  const heading = innermostHeading(passage);
  return identifier.test(heading) ? `\`${heading}\`\n\n` : '';
}

/** Markdown with the key unit in bold and the citation at the end. */
export function render(quote: Quote, mark: number): string {
  const key = quote.units[quote.key]!;
  const shown = shownUnits(quote);
  const text = joinUnits(shown, (unit) => {
    if (unit.kind === 'code') return unit.text;
    const plain = withoutFootnotes(unit.text);
    return unit === key && unit.kind !== 'row' ? bold(plain) : plain;
  });
  const joint = shown.at(-1)!.header === undefined ? ' ' : '\n\n';
  return `${shownHeading(quote.passage)}${text}${joint}[${mark}]`;
}

/** The passage can be found by this text. */
export function quotedText(quote: Quote): string {
  return joinedUnits(shownUnits(quote));
}

/** A document's own `[2]` would look like a citation of the reply. In code spans it stays. */
function withoutFootnotes(text: string): string {
  return text.includes('`') ? text : text.replace(/\s\[\d{1,3}\](?!\()/g, '');
}

/** The number of a list item is not in bold. */
function bold(text: string): string {
  return withoutBold(text).replace(/^(\d{1,4}[.)] )?(.*)$/s, '$1**$2**');
}

export function shownUnits({ units, from, to }: Quote): readonly Unit[] {
  return units.slice(from, to + 1);
}
