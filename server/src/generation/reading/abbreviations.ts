/** A name or a phrase always follows. */
const neverLast = words(
  'dr mr mrs ms prof rev hon gen col capt lt sgt sen rep gov pres fr st mt messrs mme mlle',
  'e.g i.e eg ie cf viz vs v resp incl excl approx ca al',
);

/** Short forms before a number, otherwise words or the last of a sentence: `No. 5`, but `No. It is not.` */
const beforeNumber = words(
  'no nos nr num fig figs eq eqs sec secs ch chap vol pp p pt art para app ver rev ext tel ref ed',
  'jan feb mar apr jun jul aug sep sept oct nov dec § min max',
);

/** They stand in a name as often as at its end. */
const lastBeforeStarter = words(
  'inc ltd co corp llc plc gmbh bros dept univ assn ave blvd rd jr sr ph.d m.d',
);

/** Words that rarely follow a short form within a sentence, and often begin the next. */
const starters = words(
  'the this that these those there then they their it its if in on at as an and but or for from to by with when where while',
  'who what why how we our you your he she his her i is are was do does did not no yes once after before all any both each',
  'every some most please see use only also however therefore here under since until because although such',
);

/** Whether the full stop between `before` (without it) and `following` is part of a short form, not the end of a sentence. */
export function isAbbreviation(before: string, following: string): boolean {
  const word = before.toLowerCase();
  const next = following.toLowerCase();
  if (word === 'al' || lastBeforeStarter.has(word)) return !starters.has(next);
  if (neverLast.has(word)) return true;
  if (beforeNumber.has(word)) return /^\d/.test(following) || /^[IVXLC]+$/.test(following);
  if (word === 'a.m' || word === 'p.m') return false;
  if (isInitial(before)) return following !== '' && !starters.has(next);
  return false;
}

/** `J`, `U.S`, `z.B`: single letters with full stops between. `I` alone is a word. */
function isInitial(before: string): boolean {
  return before !== 'I' && /^(?:\p{Lu}|\p{L}(?:\.\p{L})+)$/u.test(before);
}

function words(...lines: string[]): Set<string> {
  return new Set(lines.join(' ').split(' '));
}
