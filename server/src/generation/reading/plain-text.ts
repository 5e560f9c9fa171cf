import { type Block, evenSpaces, listMarker, type Reading } from './blocks.ts';
import { LineJoiner } from './join-lines.ts';

const titleLengthMax = 100;
const headingLengthMax = 80;
const questionLengthMax = 200;
const tabsMax = 100;
const marker = /^\s{0,40}(?:[-*•‣–]|\d{1,3}[.)]) +(?=\S)/;
const number = /^ {0,8}\d{1,3}(?:[.)]|((?:\.\d{1,3})+)[.)]?) +(?=\S)/;
const capitals = /^[A-Z][A-Z\d ,.'’()/&:+-]{2,60}$/;
/** An option, such as `-x, --long=ARG`. A description may follow after two spaces. */
const option = /^ *(-{1,2}[A-Za-z\d?@#](?:\S| (?! ))*)(?: {2,}(\S.*))?$/;
/** A term of a manual page with its description on the same line: `PATH   Where programs are looked for`. */
const shortTerm = /^ *([A-Za-z$/~.][^ ]{0,7}) {2,9}(\S.*)$/;
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
  const reader = new PlainTextReader(lines, page);
  const blocks = reader.read();
  if (page !== undefined) return { title: page === page.toUpperCase() ? page.toLowerCase() : page, blocks };
  const [first, second] = blocks;
  const opensWithTitle = first?.kind === 'paragraph' && second !== undefined && isTitle(first.text);
  if (!opensWithTitle) return { blocks };
  return { blocks: [{ kind: 'heading', level: 1, text: first.text }, ...blocks.slice(1)] };
}

/** Whether the first line of a text is a title, not a sentence. */
export function isTitle(line: string): boolean {
  return line.length <= titleLengthMax && /[\p{L}\p{N}]/u.test(line) && !/[.,:;!?]$/.test(line);
}

class PlainTextReader {
  readonly #lines: readonly string[];
  readonly #page: string | undefined;
  readonly #isFaq: boolean;
  readonly #joiner: LineJoiner;
  readonly #blocks: Block[] = [];
  /** The indentation of the term whose description is being read. */
  #termIndent: number | undefined;

  constructor(lines: readonly string[], page: string | undefined) {
    this.#lines = lines;
    this.#page = page;
    this.#isFaq = /\bFAQ\b|frequently asked/i.test(lines.slice(0, 10).join('\n').slice(0, 1_000));
    this.#joiner = new LineJoiner(lines);
  }

  read(): Block[] {
    let at = 0;
    while (at < this.#lines.length) {
      const end = this.#endOfParagraph(at);
      this.#readParagraph(
        this.#lines.slice(at, end),
        this.#lines.slice(end, end + 10).find((line) => line !== ''),
      );
      at = end + 1;
    }
    return this.#blocks;
  }

  #endOfParagraph(from: number): number {
    let at = from;
    while (at < this.#lines.length && this.#lines[at] !== '') at += 1;
    return at;
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
      if (level !== undefined) this.#blocks.push({ kind: 'heading', level, text: this.#joiner.join(text) });
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
    if (isUnderline(first) || this.#isRunningLine(first)) return one;
    if (
      second !== undefined &&
      isUnderline(second) &&
      first.length <= questionLengthMax &&
      !/[.,;]$/.test(first)
    ) {
      return { ...one, count: 2, level: /^\s*=/.test(second) ? 1 : 2 };
    }
    const below = second ?? next ?? '';
    const indent = indentOf(first);
    if (capitals.test(first) && !capitals.test(below)) return { ...one, level: 2 };
    if (this.#page !== undefined && indent > 0 && indent < 5 && indentOf(below) > indent)
      return { ...one, level: 3 };
    const [mark, deeper] = number.exec(first) ?? [];
    if (mark === undefined || first.length > headingLengthMax) return undefined;
    const level = 3 + (deeper?.split('.').length ?? 1) - 1;
    const isShort = !/[.,:;!]$/.test(first);
    if (deeper !== undefined) {
      if (second === undefined || endsWithQuestion(first) || (isShort && /^\p{Lu}/u.test(second)))
        return { ...one, level };
      const rest = lines.slice(from);
      return rest.join(' ').length <= questionLengthMax
        ? { count: rest.length, text: rest, level }
        : undefined;
    }
    const isAlone = second === undefined && next !== undefined && !marker.test(next);
    const isHeading = this.#isFaq
      ? isShort || indentOf(below) > indent
      : isShort && indentOf(below) <= indent;
    return isAlone && isHeading ? { ...one, level } : undefined;
  }

  #isRunningLine(line: string): boolean {
    return this.#page !== undefined && / {2,}/.test(line) && line.endsWith(` ${this.#page}`);
  }

  #readBody(lines: readonly string[]): void {
    if (
      this.#termIndent !== undefined &&
      indentOf(lines[0]!) <= this.#termIndent &&
      this.#termAt(lines, 0) === undefined
    ) {
      this.#blocks.push({ kind: 'term', text: '' });
      this.#termIndent = undefined;
    }
    let open: { marker?: string; lines: string[] } | undefined;
    const close = () => {
      const text = this.#joiner.join(open?.lines ?? []);
      if (open !== undefined && text !== '')
        this.#blocks.push(
          open.marker === undefined
            ? { kind: 'paragraph', text }
            : { kind: 'item', marker: open.marker, text },
        );
      open = undefined;
    };
    if (this.#isPreformatted(lines)) {
      this.#blocks.push({ kind: 'code', text: lines.join('\n') });
      return;
    }
    for (const [index, line] of lines.entries()) {
      const term = this.#termAt(lines, index);
      const mark =
        open !== undefined && open.marker === undefined && isWithinSentence(open.lines, line)
          ? null
          : marker.exec(line);
      if (term !== undefined) {
        close();
        this.#blocks.push({ kind: 'term', text: evenSpaces(term.text) });
        this.#termIndent = indentOf(line);
        if (term.rest !== undefined) open = { lines: [term.rest] };
      } else if (isUnderline(line)) {
        close();
      } else if (mark !== null) {
        close();
        open = { marker: listMarker(mark[0]), lines: [line.slice(mark[0].length)] };
      } else {
        open ??= { lines: [] };
        open.lines.push(line);
        if (index === 0 && endsWithQuestion(line) && /^\s*["“(]?\p{Lu}/u.test(lines[1] ?? '')) close();
      }
    }
    close();
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
    if (line.length > questionLengthMax || (this.#termIndent !== undefined && indent > this.#termIndent))
      return undefined;
    // Running text may have an option at the start of a line.
    const above = lines[index - 1];
    if (above !== undefined && indentOf(above) === indent && !option.test(above)) return undefined;
    const below = lines[index + 1];
    const isBelowDeeper = below !== undefined && indentOf(below) > indent;
    const isDescribed = isBelowDeeper || lines.length === 1 || option.test(below ?? '');
    const [, name, rest] = option.exec(line) ?? [];
    if (name !== undefined && (rest !== undefined || isDescribed)) return { text: name, rest };
    if (this.#page === undefined || indent === 0 || index > 0) return undefined;
    if (isBelowDeeper && longTerm.test(line)) return { text: line, rest: undefined };
    const [, word, meaning] = shortTerm.exec(line) ?? [];
    const column = line.length - (meaning?.length ?? 0);
    const isAligned = below === undefined ? column - indent <= 9 : indentOf(below) === column;
    return word !== undefined && isAligned && !/[.:;,?!]$/.test(word)
      ? { text: word, rest: meaning }
      : undefined;
  }
}

/** Whether a line that starts with a number continues the sentence of the line before. */
function isWithinSentence(above: readonly string[], line: string): boolean {
  return /^\s*\d/.test(line) && /[^.:;!?]$/.test(above.at(-1) ?? '');
}

function endsWithQuestion(line: string): boolean {
  return line.length <= questionLengthMax && /\?["”')]?$/.test(line);
}

function isUnderline(line: string | undefined): boolean {
  return /^\s{0,3}(?:={3,}|-{3,}|~{3,}|_{3,}|\*{3,})$/.test(line ?? '');
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
