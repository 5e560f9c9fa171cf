const stops = '.!?…';
const closers = `"'”’»›)\\]}*_\`」』）】》〉］｝〕`;
/** Stops with what belongs to the sentence before them: quotes, brackets, and citations such as `[3]`. */
const possibleEnd = new RegExp(
  `(?<![${stops}])[${stops}]+[${closers}]*(?: ?\\[\\d{1,4}\\](?=[\\s[.,;:)]|$))*(?=\\s|$)|[。！？｡．]+[${closers}]*`,
  'g',
);
const opening = /^["'“‘«‹([{*_`¿¡「『（【《〈［｛〔]*/;

/**
 * Finds where the sentences of running text end: offsets behind their last characters. Takes linear time.
 * (`Intl.Segmenter` would split at abbreviations, within URLs, and before `**` and `[1]`.)
 */
export function sentenceEnds(prose: string): number[] {
  const ends: number[] = [];
  for (const { 0: stop, index } of prose.matchAll(possibleEnd)) {
    const end = index + stop.length;
    if (!continues(prose, ends.at(-1) ?? 0, index, stop)) ends.push(end);
  }
  if ((ends.at(-1) ?? 0) < prose.length) ends.push(prose.length);
  return ends;
}

/** Whether the sentence that begins at `start` continues behind the stop at `at`. */
function continues(prose: string, start: number, at: number, stop: string): boolean {
  if (/^[。！？｡．]/.test(stop)) return false;
  const next = prose
    .slice(at + stop.length, at + stop.length + 60)
    .trimStart()
    .replace(opening, '');
  if (/^\p{Ll}/u.test(next)) return true;
  if (stop !== '.' || next === '') return false;
  const before = /[\p{L}\p{M}\p{N}.&]*$/u.exec(prose.slice(Math.max(start, at - 24), at))?.[0] ?? '';
  // The number of a list item.
  if (/^\d{1,3}$/.test(before)) return prose.slice(start, at).trimStart() === before;
  return isAbbreviation(before, /^[\p{L}\p{N}’']*/u.exec(next)?.[0] ?? '');
}

/** A name or a phrase always follows these. */
const neverLast = words(
  'dr mr mrs ms prof rev hon gen col capt lt sgt sen rep gov pres fr st mt messrs mme mlle e.g i.e eg ie cf viz vs v',
  'resp incl excl approx ca',
);

/** Abbreviations only before a number: `No. 5`, but `No. It is not.` */
const beforeNumber = words(
  'no nos nr num fig figs eq eqs sec secs ch chap vol pp p pt art para app ver ext tel ref ed jan feb mar apr jun jul aug',
  'sep sept oct nov dec § min max',
);

/** These may end a sentence, as initials may. */
const sometimesLast = words('inc ltd co corp llc plc gmbh bros dept univ assn ave blvd rd jr sr ph.d m.d al');

/** Words that often start a sentence, and rarely follow an abbreviation within one. */
const starters = words(
  'the this that these those there then they their it its if in on at as an and but or for from to by with when where while',
  'who what why how we our you your he she his her i is are was do does did not no yes once after before all any both each',
  'every some most please see use only also however therefore here under since until because although such',
);

/** Whether the full stop between two words belongs to the first. */
function isAbbreviation(before: string, following: string): boolean {
  const word = before.toLowerCase();
  if (neverLast.has(word)) return true;
  if (beforeNumber.has(word)) return /^(?:\d|[IVXLC]+$)/.test(following);
  // `J`, `U.S`, `z.B`: single letters with full stops between them. `I` alone is a word.
  const isInitial =
    before !== 'I' && !/^[ap]\.m$/.test(word) && /^(?:\p{Lu}|\p{L}(?:\.\p{L})+)$/u.test(before);
  return (isInitial || sometimesLast.has(word)) && following !== '' && !starters.has(following.toLowerCase());
}

function words(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}
