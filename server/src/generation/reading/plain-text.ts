import { type Block, evenSpaces, questionLengthMax, type Reading, type TextBlock } from './blocks.ts';

const titleLengthMax = 100;
const headingLengthMax = 80;
const tabsMax = 100;
export const marker = /^\s{0,40}(?:[-*•‣▪●○◦·–]|o(?= {2})|\d{1,3}[.)]) +(?=\S)/;
const number = /^ {0,8}\d{1,3}(?:[.)]|((?:\.\d{1,3})+)[.)]?) +(?=\S)/;
const capitals = /^[A-Z][A-Z\d ,.'’()/&:+-]{2,60}$/;
/** What headings are underlined with, by their level. */
const underlines = '=-~_*';
const underline = /^\s{0,3}(?:={3,}|-{3,}|~{3,}|_{3,}|\*{3,})$/;
/** An option, such as `-x, --long=ARG`. A description may follow after two spaces. */
const option = /^ *(-{1,2}[A-Za-z\d?@#](?:\S| (?! ))*)(?: {2,}(\S.*))?$/;
/** In a manual page, a short term with its description on the same line: `PATH   Where programs are looked for`. */
const shortTerm = /^ *(?!o )([A-Za-z$/~.][^ ]{0,7}(?<![.:;,?!])) {2,9}(\S.*)$/;
/** The first line of a formatted manual page: `LS(1)   User Commands   LS(1)`. */
const manualHead = /^([\w.:+-]{1,60}\(\d[\w]{0,6}\))\s.*\s\1$/;

/**
 * Reads text as people write it and as `man` prints it. Empty lines separate paragraphs. Headings are underlined,
 * numbered or in capitals. Each option, with its indented description, becomes a passage of its own.
 */
export function readPlainText(text: string): Reading {
  const lines = text.split('\n').map(withoutTabs);
  const page = manualHead.exec(lines.find((line) => line !== '') ?? '')?.[1];
  const isManual = page !== undefined;
  // The first and last lines of a printed page start at its edge. Text that ends with the page's name is indented.
  const own = isManual ? lines.filter((line) => !(/^\S/.test(line) && line.endsWith(` ${page}`))) : lines;
  const blocks = blocksOf(own, isManual);
  if (isManual) return { title: page === page.toUpperCase() ? page.toLowerCase() : page, blocks };
  const [first, ...rest] = blocks;
  const opensWithTitle = first?.kind === 'paragraph' && rest.length > 0 && isTitle(first.text);
  return { blocks: opensWithTitle ? [{ kind: 'heading', level: 1, text: first.text }, ...rest] : blocks };
}

function isTitle(line: string): boolean {
  return line.length <= titleLengthMax && /[\p{L}\p{N}]/u.test(line) && !/[.,:;!?]$/.test(line);
}

/** An item, if it starts with a marker: every bullet becomes `-`, and numbers are kept. */
export function textBlock(text: string): TextBlock {
  const [mark] = marker.exec(text) ?? [];
  if (mark === undefined) return { kind: 'paragraph', text };
  const number = /\d+/.exec(mark);
  return { kind: 'item', marker: number === null ? '-' : `${number[0]}.`, text: text.slice(mark.length) };
}

function blocksOf(all: readonly string[], isManual: boolean): Block[] {
  const join = lineJoiner(all);
  const blocks: Block[] = [];
  /** The indentation of the term whose description is being read. */
  let termIndent: number | undefined;
  for (let at = 0; at < all.length; at += 1) {
    const from = at;
    while (at < all.length && all[at] !== '') at += 1;
    const next = all.slice(at, at + 10).find((line) => line !== '');
    readParagraph(all.slice(from, at), next);
  }
  return blocks;

  /** A paragraph may start with headings. An underline without a heading above it is skipped. */
  function readParagraph(lines: readonly string[], next: string | undefined): void {
    let from = 0;
    while (from < lines.length) {
      const [first = '', second] = [lines[from], lines[from + 1]];
      const indent = indentOf(first);
      const isSubheading = isManual && indent > 0 && indent < 5 && indentOf(second ?? next ?? '') > indent;
      const level = isSubheading ? 3 : levelOf(first, second, next);
      const isLine = underline.test(first);
      if (level === undefined && !isLine) break;
      if (level !== undefined) blocks.push({ kind: 'heading', level, text: evenSpaces(first) });
      termIndent = undefined;
      from += !isLine && underline.test(second ?? '') ? 2 : 1;
    }
    if (from < lines.length) readBody(lines.slice(from));
  }

  function readBody(lines: readonly string[]): void {
    const isOver = termIndent !== undefined && indentOf(lines[0]!) <= termIndent;
    if (isOver && termAt(lines, 0) === undefined) {
      blocks.push({ kind: 'term', text: '' });
      termIndent = undefined;
    }
    if (isPreformatted(lines)) {
      blocks.push({ kind: 'code', text: lines.join('\n') });
      return;
    }
    let open: string[] = [];
    const start = (line = '') => {
      const text = join(open);
      if (text !== '') blocks.push(textBlock(text));
      open = [line];
    };
    for (const [index, line] of lines.entries()) {
      const term = termAt(lines, index);
      if (term !== undefined) {
        start(term.rest);
        blocks.push({ kind: 'term', text: evenSpaces(term.name) });
        termIndent = indentOf(line);
      } else if (underline.test(line)) start();
      else if (marker.test(line)) start(line.replace(/^\s*o /, '- '));
      else {
        open.push(line);
        const isQuestion = index === 0 && line.length <= questionLengthMax && /\?["”')]?$/.test(line);
        if (isQuestion && /^\s*["“(]?\p{Lu}/u.test(lines[1] ?? '')) start();
      }
    }
    start();
  }

  /** Whether lines are columns, drawings or code: most have wide gaps. */
  function isPreformatted(lines: readonly string[]): boolean {
    const wide = lines.filter((line, at) => /\S {4,}\S/.test(line) && termAt(lines, at) === undefined);
    return lines.length > 1 && wide.length > lines.length / 2;
  }

  /** The option, or in a manual page the term, whose description starts at this line. */
  function termAt(lines: readonly string[], index: number): { name: string; rest: string } | undefined {
    const line = lines[index]!;
    const indent = indentOf(line);
    if (line.length > questionLengthMax || indent > (termIndent ?? indent)) return undefined;
    // Running text may have an option at the start of a line.
    const above = lines[index - 1];
    if (above !== undefined && indentOf(above) === indent && !option.test(above)) return undefined;
    const below = lines[index + 1];
    const [, name, rest] = option.exec(line) ?? [];
    const isDescribed =
      rest !== undefined || indentOf(below ?? '') > indent || lines.length === 1 || option.test(below ?? '');
    if (name !== undefined && isDescribed) return { name, rest: rest ?? '' };
    if (!isManual || indent === 0 || index > 0) return undefined;
    const [, word, meaning = ''] = shortTerm.exec(line) ?? [];
    const column = line.length - meaning.length;
    const isAligned = below === undefined ? column - indent <= 9 : indentOf(below) === column;
    return word !== undefined && isAligned ? { name: word, rest: meaning } : undefined;
  }
}

/** The level of a heading in the first line of a paragraph. `next` is the line after the paragraph. */
function levelOf(first: string, second: string | undefined, next: string | undefined): number | undefined {
  if (underline.test(first)) return undefined;
  const isUnderlined = first.length <= questionLengthMax && !/[.,;]$/.test(first);
  if (isUnderlined && underline.test(second ?? '')) return 1 + underlines.indexOf(second!.trim().charAt(0));
  if (capitals.test(first) && !capitals.test(second ?? next ?? '')) return 2;
  const [mark, deeper] = number.exec(first) ?? [];
  if (mark === undefined || first.length > headingLengthMax || /[.,:;!]$/.test(first)) return undefined;
  // '1.2 Details' may have text directly below. '3. Next' is an item of a list if another item follows.
  if (deeper !== undefined && /^(?:\p{Lu}|$)/u.test(second ?? '')) return 2 + deeper.split('.').length;
  return second === undefined && next !== undefined && !marker.test(next) ? 3 : undefined;
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
/** Not in `pre- and post-`. */
const lineEndHyphen = /(?<=\S)([-\u2010])\n(?!(?:and|or|to)\b)(?=([\p{L}\p{N}]{1,60}))/gu;
/** Limits the length of a word: text without spaces would take quadratic time otherwise, or overflow the stack. */
const compound = /(?<!\p{L})\p{L}{1,60}-\p{L}{1,60}(?!\p{L})/gu;

/** Joins lines, and words hyphenated at a line end. A hyphen that the text also has within a line belongs to its word. */
export function lineJoiner(text: readonly string[]): (lines: readonly string[]) => string {
  const compounds = new Set(
    text.flatMap((line) => line.toLowerCase().replaceAll('\u2010', '-').match(compound) ?? []),
  );
  const isHyphenated = (token: string, hyphen: string, tail: string) => {
    const head = /\p{L}+$/u.exec(token)?.[0].toLowerCase();
    if (head === undefined || /^[-/]/.test(token) || !/^\p{Ll}+$/u.test(tail)) return false;
    return !compounds.has(`${head}-${tail}`) && !(hyphen === '-' && prefixes.test(head));
  };
  return (lines) => {
    const all = lines.map((line) => line.trim()).join('\n');
    const joined = all.replace(lineEndHyphen, (_, hyphen: string, tail: string, at: number) => {
      const token = /\S*$/.exec(all.slice(Math.max(0, at - 60), at))![0];
      return isHyphenated(token, hyphen, tail) ? '' : '-';
    });
    return evenSpaces(joined);
  };
}
