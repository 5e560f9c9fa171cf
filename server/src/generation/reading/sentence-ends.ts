import { isAbbreviation } from './abbreviations.ts';

const stops = '.!?…';
const stopsWithoutSpace = '。！？｡．';
const closers = '"\'”’»›)]}*_`」』）】》〉］｝〕';
const openers = '"\'“‘«‹([{*_`¿¡「『（【《〈［｛〔';

/** Where the sentences of running text end, its own end included: offsets just behind the last character. */
export function sentenceEnds(prose: string): number[] {
  const ends: number[] = [];
  let start = 0;
  let at = 0;
  while (at < prose.length) {
    const end = endOfSentenceAt(prose, start, at);
    if (end > at) {
      ends.push(end);
      start = end;
      at = end;
    } else {
      at = Math.max(at + 1, -end);
    }
  }
  if (start < prose.length) ends.push(prose.length);
  return ends;
}

/** The end of the sentence whose stop stands at `at`. Not positive where none ends: minus where to look on. */
function endOfSentenceAt(text: string, start: number, at: number): number {
  const char = text.charAt(at);
  if (stopsWithoutSpace.includes(char)) return skipAny(text, skipAny(text, at, stopsWithoutSpace), closers);
  if (!stops.includes(char)) return -at;
  const afterStops = skipAny(text, at, stops);
  const end = skipCitations(text, skipAny(text, afterStops, closers));
  if (end < text.length && !isSpace(text, end)) return -afterStops;
  const next = skipAny(text, skipSpaces(text, end), openers);
  if (next >= text.length) return end;
  if (/^\p{Ll}/u.test(text.slice(next, next + 2))) return -end;
  const isOneFullStop = char === '.' && afterStops === at + 1;
  if (isOneFullStop && end === afterStops && isWithinSentence(text, start, at, next)) return -end;
  return end;
}

/** Whether the full stop at `at` belongs to a short form or to the number of a list line. */
function isWithinSentence(text: string, start: number, at: number, next: number): boolean {
  const before = /[\p{L}\p{M}\p{N}.&]*$/u.exec(text.slice(Math.max(start, at - 24), at))?.[0] ?? '';
  if (/^\d{1,3}$/.test(before)) return text.slice(start, at).trimStart().length === before.length;
  const following = /^[\p{L}\p{N}’']*/u.exec(text.slice(next, next + 24))?.[0] ?? '';
  return isAbbreviation(before, following);
}

/** Marks such as `[3]` behind a stop cite what stands before them: they are its end, not the next beginning. */
function skipCitations(text: string, from: number): number {
  let at = from;
  for (;;) {
    const mark = /^ ?\[\d{1,4}\](?=[\s[.,;:)]|$)/.exec(text.slice(at, at + 9))?.[0];
    if (mark === undefined) return at;
    at += mark.length;
  }
}

function skipAny(text: string, from: number, chars: string): number {
  let at = from;
  while (at < text.length && chars.includes(text.charAt(at))) at += 1;
  return at;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text, at)) at += 1;
  return at;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 0x20 || code === 0xa0 || code === 0x3000 || (code >= 0x2000 && code <= 0x200b);
}
