import { wordsOf } from '../retrieval/terms.ts';
import { agrees, type Figure, figuresOf } from './figures.ts';

const hasName = /(?:^|\s)["“(]?\p{Lu}\p{L}/u;

/**
 * Whether a figure belongs to somebody else: of 'two months in the Netherlands, 90 days in Portugal' the two months are
 * not Portugal's.
 */
export function isMisattributed(text: string, names: readonly string[], figures: readonly Figure[]): boolean {
  if (names.length === 0 || figures.length === 0) return false;
  const parts = text.split(/[;,]|\band\b/).map((part) => ({
    words: new Set(wordsOf(part)),
    figures: figuresOf(part),
    isNamed: hasName.test(part),
  }));
  return names.some((name) => {
    const own = parts.filter(({ words }) => words.has(name));
    if (own.length === 0 || own.some((part) => part.figures.length === 0)) return false;
    return figures.some((figure) => {
      const holders = parts.filter((part) => agrees(figure, part.figures));
      return holders.length > 0 && holders.every((part) => part.isNamed && !own.includes(part));
    });
  });
}
