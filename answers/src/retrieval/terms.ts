import { LRUCache } from 'lru-cache';
import { stemmer } from 'stemmer';
import type { PassageText } from '../port/documents.ts';
import { bareName } from './file-name.ts';
import { stopWords } from './stop-words.ts';

const termLengthMax = 64;
/** The texts that are cached for a function: about 10 MB. */
const charactersMax = 500_000;

/** The words by which a passage is found, each once: letters and digits only, without stop words. */
export function extractTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const word of splitWords(text)) if (!stopWords.has(word)) terms.add(toTerm(word));
  return [...terms];
}

/** The terms of a passage: of its own text, the headings above it, the title and the file's name. */
export function extractPassageTerms(name: string, title: string, { heading, text }: PassageText): string[] {
  return extractTerms(`${title}\n${bareName(name)}\n${heading}\n${text}`);
}

/** Every word as a term, in order and with stop words, to find which words are close to each other. */
export const tokenize = memoizedByText((text): readonly string[] => splitWords(text).map(toTerm));

/** Words in order: lower-case, without diacritics, `30,000` as one number, `don't` as two words, `5gb` as `5 GB`. */
export function splitWords(text: string): string[] {
  const words = spaced(folded(text)).match(/\d+(?=[a-z])|[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.map((word) => word.replace(/\p{M}+/gu, '')).filter((word) => word !== '');
}

/** The term of a word in the index. Computing one takes a microsecond, a lookup a tenth of that. */
export const toTerm = memoizedByText(toStem);

/** The stemmer would reduce 'capitalize' to the stem of 'capital', and 'organization' to that of 'organ'. */
const verbInIze = /^(.{4,}i)[sz](?:e[drs]?|ers|ing|ations?)$/;
/** The stemmer would reduce 'founded' to 'found', as in "can be found in". */
const formOfFounder = /^found(?:ed|ers?|ing)$/;

function toStem(word: string): string {
  if (word.length > termLengthMax) return word.slice(0, termLengthMax).replace(/[\ud800-\udbff]$/, '');
  if (stopWords.has(word) || !/^[a-z]{3,}$/.test(word)) return word;
  if (formOfFounder.test(word)) return 'founder';
  const stem = verbInIze.test(word) ? word.replace(verbInIze, '$1z') : stemmer(word);
  // 'evening' is not a form of 'even'.
  return stopWords.has(stem) ? word : stem;
}

/** U+FF9E and U+FF9F are letters that `normalize` turns into marks. */
const longRunOfMarks = /([\p{M}\uff9e\uff9f]{8})[\p{M}\uff9e\uff9f]+/gu;

/** Letters that have no decomposition. */
const plainLetters = new Map(
  'ßss æae œoe øo łl đd ðd þth ıi'.split(' ').map((pair) => [pair.charAt(0), pair.slice(1)] as const),
);

function folded(text: string): string {
  const plain = text
    .toLowerCase()
    // `normalize` sorts the marks of a letter, which takes a second for 8,000. No language puts more than a few on one.
    .replace(longRunOfMarks, '$1')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u00ad\u200b-\u200d\u2060]/g, '')
    .normalize('NFKC')
    .replace(/[ßæœøłđðþı]/g, (letter) => plainLetters.get(letter)!);
  return withoutApostrophes(plain)
    .replace(/(?<=\d),(?=\d\d\d(?!\d))/g, '')
    .replace(/\b(e|wi)-(?=mail|fi\b)/g, '$1');
}

function withoutApostrophes(text: string): string {
  if (!/['‘’ʼ]/.test(text)) return text;
  return text
    .replace(/[‘’ʼ]/g, "'")
    .replace(/\bcan't\b/g, 'can not')
    .replace(/\bwon't\b/g, 'will not')
    .replace(/n't\b/g, ' not')
    .replace(/(?<=[a-z])'(?:s|re|ve|ll|d|m)\b/g, '');
}

/** Scripts that put no space between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Created on first use: the first use of `Intl` takes 19 ms, which would delay the start. */
let segmenter: Intl.Segmenter | undefined;

/** The text with spaces between its words. One call for the whole text takes a sixth of the time of one per word. */
function spaced(text: string): string {
  if (!unspaced.test(text)) return text;
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment).join(' ');
}

/** Caches the results of a pure function of a text, so that a passage is analyzed once and not for every question. */
export function memoizedByText<T extends {}>(compute: (text: string) => T): (text: string) => T {
  const known = new LRUCache<string, T>({
    maxSize: charactersMax,
    // The library requires sizes above 0.
    sizeCalculation: (_, text) => text.length + 1,
    memoMethod: compute,
  });
  // `memo` alone takes longer for a known text.
  return (text) => known.get(text) ?? known.memo(text);
}

export type TermCounts = ReadonlyMap<string, number>;

/** How often a text has each term. */
export const termCounts = memoizedByText((text): TermCounts => {
  const counts = new Map<string, number>();
  for (const token of tokenize(text)) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
});
