import { type Block, evenSpaces, listMarker, type Reading } from './blocks.ts';

const titleLengthMax = 100;
const headingLengthMax = 80;
const questionLengthMax = 200;
const tabsMax = 100;
const marker = /^\s{0,40}(?:[-*•‣–]|\d{1,3}[.)]) +(?=\S)/;
const number = /^ {0,8}\d{1,3}(?:[.)]|((?:\.\d{1,3})+)[.)]?) +(?=\S)/;
const capitals = /^[A-Z][A-Z\d ,.'’()/&:+-]{2,60}$/;
const underline = /^\s{0,3}(?:={3,}|-{3,}|~{3,}|_{3,}|\*{3,})$/;
/** An option, such as `-x, --long=ARG`. A description may follow after two spaces. */
const option = /^ *(-{1,2}[A-Za-z\d?@#](?:\S| (?! ))*)(?: {2,}(\S.*))?$/;
/** A term of a manual page with its description on the same line: `PATH   Where programs are looked for`. */
const shortTerm = /^ *([A-Za-z$/~.][^ ]{0,7}(?<![.:;,?!])) {2,9}(\S.*)$/;
const longTerm = /^ *[A-Za-z$/~.<[]\S(?:\S| (?! ))*(?<![.:;,?!])$/;
/** The first line of a formatted manual page: `LS(1)   User Commands   LS(1)`. */
const manualHead = /^([\w.:+-]{1,60}\(\d[\w]{0,6}\))\s.*\s\1$/;

/**
 * Reads text as people write it and as `man` prints it. Empty lines separate paragraphs. Headings are underlined,
 * numbered or in capitals. Each option, with its indented description, becomes a passage of its own.
 */
export function readPlainText(text: string): Reading {
  const lines = text.split('\n').map(withoutTabs);
  const page = manualHead.exec(lines.find((line) => line !== '') ?? '')?.[1];
  const blocks = new PlainTextReader(lines, page).read();
  if (page !== undefined) return { title: page === page.toUpperCase() ? page.toLowerCase() : page, blocks };
  const [first, ...rest] = blocks;
  const opensWithTitle = first?.kind === 'paragraph' && rest.length > 0 && isTitle(first.text);
  return { blocks: opensWithTitle ? [{ kind: 'heading', level: 1, text: first.text }, ...rest] : blocks };
}

/** Whether the first line of a text is a title, not a sentence. */
export function isTitle(line: string): boolean {
  return line.length <= titleLengthMax && /[\p{L}\p{N}]/u.test(line) && !/[.,:;!?]$/.test(line);
}

class PlainTextReader {
  readonly #lines: readonly string[];
  /** The name of the manual page, if the text is one. */
  readonly #page: string | undefined;
  readonly #isFaq: boolean;
  readonly #join: (lines: readonly string[]) => string;
  readonly #blocks: Block[] = [];
  /** The indentation of the term whose description is being read. */
  #termIndent: number | undefined;

  constructor(lines: readonly string[], page: string | undefined) {
    this.#lines = lines;
    this.#page = page;
    this.#isFaq = /\bFAQ\b|frequently asked/i.test(lines.slice(0, 10).join('\n').slice(0, 1_000));
    this.#join = lineJoiner(lines);
  }

  read(): Block[] {
    for (let at = 0; at < this.#lines.length; at += 1) {
      const from = at;
      while (at < this.#lines.length && this.#lines[at] !== '') at += 1;
      const next = this.#lines.slice(at, at + 10).find((line) => line !== '');
      this.#readParagraph(this.#lines.slice(from, at), next);
    }
    return this.#blocks;
  }

  #readParagraph(lines: readonly string[], next: string | undefined): void {
    let from = 0;
    while (from < lines.length) {
      const heading = this.#headingAt(lines, from, next);
      if (heading === undefined) {
        this.#readBody(lines.slice(from));
        return;
      }
      const { count, text, level } = heading;
      if (level !== undefined) this.#blocks.push({ kind: 'heading', level, text: this.#join(text) });
      this.#termIndent = undefined;
      from += count;
    }
  }

  /** The heading at the start of a paragraph, and how many lines it has. Lines without a level are skipped. */
  #headingAt(
    lines: readonly string[],
    from: number,
    next: string | undefined,
  ): { count: number; text: readonly string[]; level?: number } | undefined {
    const [first = '', second] = [lines[from], lines[from + 1]];
    const one = { count: 1, text: [first] };
    if (underline.test(first) || this.#isRunningLine(first)) return one;
    const canBeUnderlined = first.length <= questionLengthMax && !/[.,;]$/.test(first);
    if (canBeUnderlined && underline.test(second ?? ''))
      return { ...one, count: 2, level: /^\s*=/.test(second!) ? 1 : 2 };
    const below = second ?? next ?? '';
    const indent = indentOf(first);
    if (capitals.test(first) && !capitals.test(below)) return { ...one, level: 2 };
    const isSubheading = this.#page !== undefined && indent > 0 && indent < 5 && indentOf(below) > indent;
    if (isSubheading) return { ...one, level: 3 };
    const [mark, deeper] = number.exec(first) ?? [];
    if (mark === undefined || first.length > headingLengthMax) return undefined;
    const isShort = !/[.,:;!]$/.test(first);
    if (deeper !== undefined) {
      const level = 2 + deeper.split('.').length;
      if (second === undefined || endsWithQuestion(first) || (isShort && /^\p{Lu}/u.test(second)))
        return { ...one, level };
      const text = lines.slice(from);
      return text.join(' ').length <= questionLengthMax ? { count: text.length, text, level } : undefined;
    }
    const isAlone = second === undefined && next !== undefined && !marker.test(next);
    const isDeeperBelow = indentOf(below) > indent;
    const isHeading = this.#isFaq ? isShort || isDeeperBelow : isShort && !isDeeperBelow;
    return isAlone && isHeading ? { ...one, level: 3 } : undefined;
  }

  /** Whether a line is the header or footer of a manual page. */
  #isRunningLine(line: string): boolean {
    return this.#page !== undefined && / {2,}/.test(line) && line.endsWith(` ${this.#page}`);
  }

  #readBody(lines: readonly string[]): void {
    const isTermOver = this.#termIndent !== undefined && indentOf(lines[0]!) <= this.#termIndent;
    if (isTermOver && this.#termAt(lines, 0) === undefined) {
      this.#blocks.push({ kind: 'term', text: '' });
      this.#termIndent = undefined;
    }
    if (this.#isPreformatted(lines)) {
      this.#blocks.push({ kind: 'code', text: lines.join('\n') });
      return;
    }
    let open: { marker?: string; lines: string[] } = { lines: [] };
    const start = (next: typeof open) => {
      const { marker } = open;
      const text = this.#join(open.lines);
      if (text !== '')
        this.#blocks.push(
          marker === undefined ? { kind: 'paragraph', text } : { kind: 'item', marker, text },
        );
      open = next;
    };
    for (const [index, line] of lines.entries()) {
      const term = this.#termAt(lines, index);
      const continues = open.marker === undefined && isWithinSentence(open.lines.at(-1), line);
      const [mark] = continues ? [] : (marker.exec(line) ?? []);
      if (term !== undefined) {
        start({ lines: term.rest === undefined ? [] : [term.rest] });
        this.#blocks.push({ kind: 'term', text: evenSpaces(term.text) });
        this.#termIndent = indentOf(line);
      } else if (underline.test(line)) start({ lines: [] });
      else if (mark !== undefined) start({ marker: listMarker(mark), lines: [line.slice(mark.length)] });
      else {
        open.lines.push(line);
        if (index === 0 && endsWithQuestion(line) && /^\s*["“(]?\p{Lu}/u.test(lines[1] ?? ''))
          start({ lines: [] });
      }
    }
    start({ lines: [] });
  }

  /** Whether lines are columns, drawings or code: most have wide gaps. */
  #isPreformatted(lines: readonly string[]): boolean {
    const wide = lines.filter((line, at) => /\S {4,}\S/.test(line) && this.#termAt(lines, at) === undefined);
    return lines.length > 1 && wide.length > lines.length / 2;
  }

  /** The option, or in a manual page the term, whose description starts at this line. */
  #termAt(lines: readonly string[], index: number): { text: string; rest: string | undefined } | undefined {
    const line = lines[index]!;
    const indent = indentOf(line);
    if (line.length > questionLengthMax || indent > (this.#termIndent ?? indent)) return undefined;
    // Running text may have an option at the start of a line.
    const above = lines[index - 1];
    if (above !== undefined && indentOf(above) === indent && !option.test(above)) return undefined;
    const below = lines[index + 1];
    const isBelowDeeper = below !== undefined && indentOf(below) > indent;
    const [, name, rest] = option.exec(line) ?? [];
    const isDescribed = rest !== undefined || isBelowDeeper || lines.length === 1 || option.test(below ?? '');
    if (name !== undefined && isDescribed) return { text: name, rest };
    if (this.#page === undefined || indent === 0 || index > 0) return undefined;
    if (isBelowDeeper && longTerm.test(line)) return { text: line, rest: undefined };
    const [, word, meaning = ''] = shortTerm.exec(line) ?? [];
    const column = line.length - meaning.length;
    const isAligned = below === undefined ? column - indent <= 9 : indentOf(below) === column;
    return word !== undefined && isAligned ? { text: word, rest: meaning } : undefined;
  }
}

/** Whether a line that starts with a number continues the sentence of the line before. */
function isWithinSentence(above: string | undefined, line: string): boolean {
  return /^\s*\d/.test(line) && /[^.:;!?]$/.test(above ?? '');
}

function endsWithQuestion(line: string): boolean {
  return line.length <= questionLengthMax && /\?["”')]?$/.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Expands tabs to the next multiple of 8 columns. */
function withoutTabs(line: string): string {
  const cells = line.trimEnd().split('\t');
  if (cells.length > tabsMax) return cells.join(' ');
  return cells.reduce((text, cell) => `${text}${' '.repeat(8 - (text.length % 8))}${cell}`);
}

/** First parts of compounds, such as `well-known`: a hyphen after them is kept at a line end. */
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
