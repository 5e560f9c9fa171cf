import { termOf } from './terms.ts';

const lengthMin = 5;
const lengthMax = 20;
/** Letters that are omitted most often. */
const forgotten = 'aeiou';
/** Letters that sound alike or are close to each other on the keyboard. */
const alike = ['aeiouy', 'csk', 'mn', 'dt', 'bvp', 'gj', 'fv', 'sz'];

/** Terms that a misspelled word may mean: one typing error away, with the same first letter. */
export function respellings(word: string): string[] {
  if (word.length < lengthMin || word.length > lengthMax || !/^[a-z]+$/.test(word)) return [];
  const terms = new Set<string>();
  for (let at = 1; at <= word.length; at++) {
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    for (const missing of new Set([word.charAt(at - 1), letter, ...forgotten])) {
      terms.add(termOf(before + missing + letter + after));
    }
    if (letter === '') continue;
    terms.add(termOf(before + after));
    terms.add(termOf(before + after.charAt(0) + letter + after.slice(1)));
    for (const group of alike) {
      if (!group.includes(letter)) continue;
      for (const other of group) terms.add(termOf(before + other + after));
    }
  }
  terms.delete(termOf(word));
  return [...terms];
}
