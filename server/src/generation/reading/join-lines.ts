import { evenSpaces } from './blocks.ts';

/** First parts of compounds, such as `well-known`: a hyphen behind them is kept at a line end. */
const prefixes = /^(?:all|cross|end|ex|half|high|long|low|non|read|self|short|single|two|user|well|write)$/;
/** Limits the length of a word: text without spaces would take quadratic time otherwise, or overflow the stack. */
const wordWithHyphen = /(?<!\p{L})\p{L}{1,60}[-\u2010]\p{L}{1,60}(?!\p{L})/gu;

/**
 * Returns a function that joins the lines of a paragraph, and the parts of words that are hyphenated at a line end. A
 * hyphen that the text also has within a line belongs to its word.
 */
export function lineJoiner(text: readonly string[]): (lines: readonly string[]) => string {
  const compounds = new Set<string>();
  for (const line of text) {
    for (const word of line.toLowerCase().match(wordWithHyphen) ?? [])
      compounds.add(word.replace('\u2010', '-'));
  }
  /** What takes the place of a hyphen at a line end. */
  const jointOf = (token: string, hyphen: string, tail: string): string => {
    const head = /\p{L}+$/u.exec(token)?.[0].toLowerCase();
    if (head === undefined || /^[-/]/.test(token) || !/^\p{Ll}+$/u.test(tail)) return '-';
    const isCompound = compounds.has(`${head}-${tail}`) || (hyphen === '-' && prefixes.test(head));
    return isCompound ? '-' : '';
  };
  return (lines) => {
    const parts = lines.map((line, at) => {
      const own = line.trim();
      const [, token, hyphen] = /(\S{1,60})([-\u2010])$/.exec(own.slice(-61)) ?? [];
      const tail = /^[\p{L}\p{N}]+/u.exec((lines[at + 1] ?? '').trim().slice(0, 60))?.[0];
      const isJoined = token !== undefined && tail !== undefined && !/^(?:and|or|to)$/.test(tail);
      return isJoined ? own.slice(0, -1) + jointOf(token, hyphen!, tail) : `${own} `;
    });
    return evenSpaces(parts.join(''));
  };
}
