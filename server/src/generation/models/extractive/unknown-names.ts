import type { FoundPassage } from '../../../domain/document.ts';
import type { WeighedQuestion } from '../../retrieval/ranking.ts';
import { termOf, wordsOf } from '../../retrieval/terms.ts';

/** A name that a question asks about, with the word before it: 'to Germany', 'in New Zealand'. */
export interface AskedName {
  readonly name: string;
  readonly before: string;
  readonly terms: ReadonlySet<string>;
}

const readLengthMax = 2_000;
const capitalised = /(?<=([\p{L}\p{N}]+),? (?:the )?)\p{Lu}\p{Ll}[\p{L}-]+(?: \p{Lu}\p{Ll}[\p{L}-]+){0,3}/gu;

/** The names of which some word stands in no passage. None where Every Word Is Written So. */
export function unknownNamesOf({ concepts }: WeighedQuestion, text: string): AskedName[] {
  const asked = text.slice(0, readLengthMax);
  const names = [...asked.matchAll(capitalised)].map(([name, before]) => ({
    name,
    before: before!.toLowerCase(),
    terms: new Set(wordsOf(name).map(termOf)),
  }));
  const words = names.reduce((count, { terms }) => count + terms.size, 0);
  if (words > (wordsOf(asked).length - 1) / 2) return [];
  const unknown = concepts.filter(({ wordings }) => wordings.length === 0);
  return names.filter(({ terms }) => unknown.some(({ term }) => terms.has(term)));
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
