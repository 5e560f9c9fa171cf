const stops = '.!?…';
const stopsWithoutSpace = '。！？｡．';
const closers = '"\'”’»›)]}*_`」』）】》〉］｝〕';
const openers = '"\'“‘«‹([{*_`¿¡「『（【《〈［｛〔';

/** Where the sentences of running text end: offsets behind their last characters. */
export function sentenceEnds(prose: string): number[] {
  const ends: number[] = [];
  let start = 0;
  let at = 0;
  while (at < prose.length) {
    const { isEnd, next } = examine(prose, start, at);
    at = next;
    if (!isEnd) continue;
    ends.push(next);
    start = next;
  }
  if (start < prose.length) ends.push(prose.length);
  return ends;
}

/** Whether a sentence ends with the character at `at`, and where to look next. */
function examine(text: string, start: number, at: number): { isEnd: boolean; next: number } {
  const char = text.charAt(at);
  if (stopsWithoutSpace.includes(char)) {
    return { isEnd: true, next: skipAny(text, skipAny(text, at, stopsWithoutSpace), closers) };
  }
  if (!stops.includes(char)) return { isEnd: false, next: at + 1 };
  const afterStops = skipAny(text, at, stops);
  const end = skipCitations(text, skipAny(text, afterStops, closers));
  if (end < text.length && !isSpace(text, end)) return { isEnd: false, next: afterStops };
  const following = skipAny(text, skipSpaces(text, end), openers);
  const isLowerCase = /^\p{Ll}/u.test(text.slice(following, following + 2));
  const isOneFullStop = char === '.' && end === at + 1;
  const isInside = isLowerCase || (isOneFullStop && isWithinSentence(text, start, at, following));
  return { isEnd: following >= text.length || !isInside, next: end };
}

/** Whether the full stop at `at` belongs to an abbreviation or to the number of a list item. */
function isWithinSentence(text: string, start: number, at: number, next: number): boolean {
  const before = /[\p{L}\p{M}\p{N}.&]*$/u.exec(text.slice(Math.max(start, at - 24), at))?.[0] ?? '';
  if (/^\d{1,3}$/.test(before)) return text.slice(start, at).trimStart().length === before.length;
  const following = /^[\p{L}\p{N}’']*/u.exec(text.slice(next, next + 24))?.[0] ?? '';
  return isAbbreviation(before, following);
}

/** Citations such as `[3]` behind a stop belong to the sentence before them. */
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

/** Abbreviations that a name or a phrase always follows. */
const neverLast = words(
  'dr mr mrs ms prof rev hon gen col capt lt sgt sen rep gov pres fr st mt messrs mme mlle',
  'e.g i.e eg ie cf viz vs v resp incl excl approx ca',
);

/** Abbreviations only before a number: `No. 5`, but `No. It is not.` */
const beforeNumber = words(
  'no nos nr num fig figs eq eqs sec secs ch chap vol pp p pt art para app ver rev ext tel ref ed',
  'jan feb mar apr jun jul aug sep sept oct nov dec § min max',
);

/** Abbreviations that may also end a sentence: what follows decides. */
const lastBeforeStarter = words(
  'inc ltd co corp llc plc gmbh bros dept univ assn ave blvd rd jr sr ph.d m.d al',
);

/** Words that often start a sentence, and rarely follow an abbreviation within one. */
const starters = words(
  'the this that these those there then they their it its if in on at as an and but or for from to by with when where while',
  'who what why how we our you your he she his her i is are was do does did not no yes once after before all any both each',
  'every some most please see use only also however therefore here under since until because although such',
);

/** Whether the full stop between two words belongs to the first. */
function isAbbreviation(before: string, following: string): boolean {
  const word = before.toLowerCase();
  const isStarter = starters.has(following.toLowerCase());
  if (lastBeforeStarter.has(word)) return !isStarter;
  if (neverLast.has(word)) return true;
  if (beforeNumber.has(word)) return /^(?:\d|[IVXLC]+$)/.test(following);
  if (word === 'a.m' || word === 'p.m') return false;
  return isInitial(before) && following !== '' && !isStarter;
}

/** `J`, `U.S`, `z.B`: single letters with full stops between them. `I` alone is a word. */
function isInitial(before: string): boolean {
  return before !== 'I' && /^(?:\p{Lu}|\p{L}(?:\.\p{L})+)$/u.test(before);
}

function words(...lines: string[]): Set<string> {
  return new Set(lines.join(' ').split(' '));
}
