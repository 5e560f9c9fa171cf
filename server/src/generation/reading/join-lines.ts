import { evenSpaces } from './blocks.ts';

/** First parts of compounds, such as `well-known`: a hyphen behind them is kept at a line end. */
const prefixes = new Set(
  'all cross end ex half high long low non read self short single two user well write'.split(' '),
);
/** Limits the length of a word: text without spaces would take quadratic time otherwise, or overflow the stack. */
const wordWithHyphen = /(?<!\p{L})\p{L}{1,60}[-\u2010]\p{L}{1,60}(?!\p{L})/gu;

/** Joins the lines of a paragraph, and the parts of words that are hyphenated at a line end. */
export class LineJoiner {
  /** Words with a hyphen within a line, where the hyphen belongs to the word. */
  readonly #compounds = new Set<string>();

  constructor(lines: Iterable<string>) {
    for (const line of lines) {
      for (const word of line.toLowerCase().match(wordWithHyphen) ?? []) {
        this.#compounds.add(word.replace('\u2010', '-'));
      }
    }
  }

  join(lines: readonly string[]): string {
    const parts: string[] = [];
    for (const line of lines) {
      const above = parts.at(-1);
      const below = line.trim();
      if (above !== undefined) parts[parts.length - 1] = this.#ended(above, below);
      parts.push(below);
    }
    return evenSpaces(parts.join(''));
  }

  /** The line, and what separates it from the next. */
  #ended(above: string, below: string): string {
    const [, token, hyphen] = /(\S{1,60})([-\u2010])$/.exec(above.slice(-61)) ?? [];
    const tail = /^[\p{L}\p{N}]+/u.exec(below.slice(0, 60))?.[0];
    if (token === undefined || tail === undefined || /^(?:and|or|to)$/.test(tail)) return `${above} `;
    const head = /\p{L}+$/u.exec(token)?.[0].toLowerCase();
    const isWord = head !== undefined && !/^[-/]/.test(token) && /^\p{Ll}+$/u.test(tail);
    const isCompound =
      this.#compounds.has(`${head}-${tail}`) || (hyphen === '-' && head !== undefined && prefixes.has(head));
    return above.slice(0, -1) + (isWord && !isCompound ? '' : '-');
  }
}
