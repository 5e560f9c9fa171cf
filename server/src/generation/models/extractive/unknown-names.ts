import type { FoundPassage } from '../../../domain/document.ts';
import type { WeighedQuestion } from '../../retrieval/ranking.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { stopWords } from '../../retrieval/stop-words.ts';
import { termOf, tokensOf, wordsOf } from '../../retrieval/terms.ts';
import { isRow } from './company.ts';
import type { Selection } from './selection.ts';

/** A name that a question asks about, with the word before it: 'to Germany', 'in New Zealand'. */
export interface AskedName {
  readonly name: string;
  /** As it is spoken of: 'the USA'. */
  readonly full: string;
  readonly before: string;
  readonly terms: ReadonlySet<string>;
}

const readLengthMax = 2_000;
const capitalised = /(?<=([\p{L}\p{N}]+),? (the )?)\p{Lu}\p{Ll}[\p{L}-]+(?: \p{Lu}\p{Ll}[\p{L}-]+){0,3}/gu;
/** 'to the USA', 'in NYC': elsewhere capitals are rather a short form than a place. */
const capitals = /(?<=\b(to|in|from|within|outside) (the )?)\p{Lu}{2,5}(?![\p{L}\p{N}])/gu;

/** The names of which some word stands in no passage. None where Every Word Is Written So. */
export function unknownNamesOf({ question, passages }: SearchFindings, text: string): AskedName[] {
  const asked = text.slice(0, readLengthMax);
  const names = [...asked.matchAll(capitalised), ...asked.matchAll(capitals)].map(
    ([name, before, article = '']) => ({
      name,
      full: `${article}${name}`,
      before: before!.toLowerCase(),
      terms: new Set(wordsOf(name).map(termOf)),
    }),
  );
  const words = names.reduce((count, { terms }) => count + terms.size, 0);
  if (words > (wordsOf(asked).length - 1) / 2) return [];
  const unknown = question.concepts.filter((_, at) => isUnknown(question, passages, at));
  return names.filter(({ terms }) => unknown.some(({ term }) => terms.has(term)));
}

/** That a passage holds 'united' and another 'states' does not mean that one holds both, and 'us' may be anybody. */
function isUnknown(question: WeighedQuestion, passages: readonly FoundPassage[], concept: number): boolean {
  const { wordings } = question.concepts[concept]!;
  if (wordings.some(({ phrase }) => phrase.length === 1 && !stopWords.has(phrase[0]!))) return false;
  const phrases = wordings.filter(({ phrase }) => phrase.length > 1);
  return !passages.some(({ text }) => {
    const tokens = ` ${tokensOf(text).join(' ')} `;
    return phrases.some(({ phrase }) => tokens.includes(` ${phrase.join(' ')} `));
  });
}

/** The question that remains when nobody asks about these. */
export function withoutNames(text: string, names: readonly AskedName[]): string {
  return names.reduce((rest, { name }) => rest.replace(name, ''), text.slice(0, readLengthMax));
}

const prepositions = new Set('at by for from in inside near of on outside to via with within'.split(' '));
/** 'from Tuesday to Friday' is no destination. */
const day = '(?!\\p{Lu}\\p{L}{2,5}days?\\b)';
const nameWithin = /[\p{Ll}:,–-] \p{Lu}\p{Ll}/u;

/** Whether a passage speaks of another name in the place of this one: what holds 'in Portugal' is no rule for Japan. */
export function isOfAnotherName({ title, heading, text }: FoundPassage, { before }: AskedName): boolean {
  if (nameWithin.test(title) || nameWithin.test(heading.split(' › ').at(-1)!)) return true;
  if (!prepositions.has(before)) return false;
  const other = `${before === 'to' || before === 'from' ? day : ''}\\p{Lu}\\p{Ll}`;
  return new RegExp(
    `\\b[${before[0]!.toUpperCase()}${before[0]}]${before.slice(1)} (?:the )?${other}`,
    'u',
  ).test(text);
}

const general =
  /\b(?:all|any|anyone|anybody|anywhere|each|every|everyone|everybody|everywhere|whatever|wherever|countries|cities|world|worldwide|international|abroad|rest of|others?)\b/i;

/** Whether a text says something that holds for more than it names, and so perhaps for a name that it does not. */
export function isGeneral(text: string): boolean {
  return general.test(text);
}

/**
 * Of what comes closest to an answer about a name, only what holds for more than it names, where there is any: of a
 * table every such row, for 'Rest of Europe' and 'Rest of the world' are equally near to who cannot tell which is meant.
 */
export function withGeneralOnly(selection: Selection): Selection {
  const { units, told } = selection;
  const general = told.filter((at) => isGeneral(units[at]!.text));
  if (general.length === 0) return selection;
  const tables = new Set(
    general
      .map((at) => units[at]!)
      .filter(isRow)
      .map(({ list }) => list),
  );
  const rows = units.flatMap((unit, at) => (tables.has(unit.list) && isGeneral(unit.text) ? [at] : []));
  return { ...selection, told: [...new Set([...rows, ...general])] };
}
