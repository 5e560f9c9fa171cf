import { stopWords } from '../retrieval/stop-words.ts';
import { termOf, wordsOf } from '../retrieval/terms.ts';

const cues = new Set('not no never cannot none nor neither nobody nothing'.split(' '));
/** What is denied ends where a circumstance begins: 'not shipped on Sundays' denies the shipping. */
const endsDenial = new Set(
  'for of in at on by to within after before until than from with if when because and or that which'.split(
    ' ',
  ),
);
/** How many words that say something are denied at once. */
const deniedMax = 2;
/** How far behind its 'not' a word may stand, so that 'not not not …' takes no time. */
const reachMax = 30;

/** The terms that a text denies: those that follow a 'not' or its like, within its clause; and the 'used' of 'unused'. */
export function negatedTerms(text: string): Set<string> {
  const negated = new Set<string>();
  for (const clause of text.split(/[,;:()—–]|\bbut\b|\bunless\b|\bexcept\b/i)) {
    const words = wordsOf(clause);
    for (const [at, word] of words.entries()) {
      if (cues.has(word) && words[at + 1] !== 'only')
        for (const term of deniedAfter(words, at)) negated.add(term);
    }
  }
  return negated;
}

function deniedAfter(words: readonly string[], cue: number): string[] {
  const denied: string[] = [];
  const end = Math.min(words.length, cue + 1 + reachMax);
  for (let at = cue + 1; at < end && denied.length < deniedMax; at++) {
    const word = words[at]!;
    if (endsDenial.has(word) && denied.length > 0) break;
    if (!stopWords.has(word) && !/^\d/.test(word)) denied.push(termOf(word));
    else if (word === 'used') break;
  }
  return denied;
}
