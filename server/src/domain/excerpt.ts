import { inOneLine } from '../../../runtime/src/pure/text.ts';

/** Splits a text into words as the index does, and reduces a word to its term. */
export interface Vocabulary {
  splitWords(text: string): string[];
  toTerm(word: string): string;
}

interface SearchedWords {
  readonly terms: readonly string[];
  /** The last word may be unfinished: what is typed so far also finds longer words. */
  readonly last?: { readonly term: string; readonly prefix: string };
}

/** A piece of a text; `hit` marks a word that was searched for. */
export interface Segment {
  readonly text: string;
  readonly hit: boolean;
}

/** More words would not narrow a search. */
const wordsMax = 32;
/** The shortest beginning of a Latin word that also finds longer words. Shorter ones occur in nearly every text. */
const latinPrefixMin = 3;

/** Undefined if the text has no words: punctuation, emoji, white space. */
export function searchedWords(search: string, { splitWords, toTerm }: Vocabulary): SearchedWords | undefined {
  const words = splitWords(search).slice(0, wordsMax);
  const last = words.at(-1);
  if (last === undefined) return undefined;
  const isUnfinished = /\S$/u.test(search) && [...last].length >= prefixMin(last);
  const terms = [...new Set((isUnfinished ? words.slice(0, -1) : words).map(toTerm))];
  // Terms of the index are not longer.
  const prefix = last.slice(0, 64).replace(/[\ud800-\udbff]$/, '');
  return isUnfinished ? { terms, last: { term: toTerm(last), prefix } } : { terms };
}

/** In scripts where one character can be a word, one is enough. */
function prefixMin(word: string): number {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) return 1;
  return /[^a-z\d]/.test(word) ? 2 : latinPrefixMin;
}

const writtenWord = /[\p{L}\p{N}\p{M}]+(?:['’,][\p{L}\p{N}\p{M}]+)*/gu;

interface Hit {
  readonly start: number;
  readonly end: number;
}

export type HitFinder = ReturnType<typeof hitFinder>;

/** Finds in a text the words that were searched for. */
export function hitFinder({ terms, last }: SearchedWords, { splitWords, toTerm }: Vocabulary) {
  const searched = new Set(last === undefined ? terms : [...terms, last.term]);
  const prefix = last?.prefix;
  /** A plain text without any of these beginnings has no hit. */
  const beginnings = [...searched, ...(prefix === undefined ? [] : [prefix])].map((term) =>
    term.slice(0, latinPrefixMin),
  );

  function isSearched(word: string): boolean {
    const term = toTerm(word);
    if (searched.has(term)) return true;
    return prefix !== undefined && (term.startsWith(prefix) || word.startsWith(prefix));
  }

  function hitsIn(text: string): Hit[] {
    if (/^[\x20-\x7e\s]*$/.test(text)) {
      const lower = text.toLowerCase();
      if (!beginnings.some((beginning) => lower.includes(beginning))) return [];
    }
    const hits: Hit[] = [];
    for (const { 0: written, index } of text.matchAll(writtenWord)) {
      const words = splitWords(written);
      const hit = words.find(isSearched);
      if (hit === undefined) continue;
      // Scripts without spaces: only the word, not the whole sentence.
      const offset = words.length > 1 ? written.toLowerCase().indexOf(hit) : -1;
      const [start, length] = offset === -1 ? [index, written.length] : [index + offset, hit.length];
      hits.push({ start, end: start + length });
    }
    return hits;
  }

  return {
    mark: (text: string) => splitSegments(text, hitsIn(text)),

    /** About `length` characters around the first hit; undefined if there is none. `found`: how many hits the text has. */
    excerpt(text: string, length: number) {
      const hits = hitsIn(text);
      const [first] = hits;
      if (first === undefined) return undefined;
      const start = wordStartBefore(text, Math.max(0, first.start - Math.floor(length / 3)));
      const isWhole = start + length >= text.length;
      const end = isWhole ? text.length : wordStartBefore(text, Math.max(first.end, start + length));
      const inside = hits
        .filter((hit) => hit.end <= end)
        .map((hit) => ({ start: hit.start - start, end: hit.end - start }));
      const segments = splitSegments(text.slice(start, end).trimEnd(), inside);
      if (start > 0) segments.unshift({ text: '…', hit: false });
      if (end < text.length) segments.push({ text: '…', hit: false });
      return { segments, found: hits.length };
    },
  };
}

function splitSegments(text: string, hits: readonly Hit[]): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  for (const hit of hits) {
    if (hit.start > end) segments.push({ text: text.slice(end, hit.start), hit: false });
    segments.push({ text: text.slice(hit.start, hit.end), hit: true });
    end = hit.end;
  }
  if (end < text.length) segments.push({ text: text.slice(end), hit: false });
  return segments;
}

/** The start of a word near `place`, so that no word and no character is cut. */
function wordStartBefore(text: string, place: number): number {
  if (place === 0) return 0;
  const space = text.lastIndexOf(' ', place);
  if (space > place - 40) return space + 1;
  return /[\udc00-\udfff]/.test(text[place] ?? '') ? place - 1 : place;
}

/** Markdown as one line of plain text, without citations. Each expression is bounded: the text may be anything. */
export function plainText(markdown: string): string {
  const plain = markdown
    .replace(/^ {0,3}(?:```(?!.*`)|~~~).*$/gm, ' ')
    .replace(/^[ \t]{0,12}(?:#{1,6}|>|[-*+]|\d{1,3}\.)[ \t]/gm, ' ')
    .replace(/!?\[([^[\]\n]{0,300})\]\([^()\s]{0,2000}\)/g, '$1')
    .replace(/ ?\[\d{1,3}\]/g, '')
    .replace(/\*\*|__|~~|`/g, '');
  return inOneLine(plain);
}
