import { type Block, evenSpaces, questionLengthMax, type Reading, termLevel } from './blocks.ts';

/** A first paragraph that is not a sentence. */
const title = /^(?=.*[\p{L}\p{N}]).{1,100}(?<![.,:;!?])$/u;
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
/** The first line of a page that `man` printed: `LS(1)   User Commands   LS(1)`. */
const manualHead = /^([\w.:+-]{1,60}\(\d\w{0,6}\))\s.*\s\1$/;

/** Reads text as people write it and as `man` prints it. Each option becomes a passage of its own, with its description. */
export function readPlainText(text: string): Reading {
  const paragraphs = text.split(/\n(?:[^\S\n]*\n)+/).map(splitLines);
  const page = manualHead.exec(paragraphs.find(({ length }) => length > 0)?.[0] ?? '')?.[1];
  // The first and the last line of a printed page start at its edge. Text that ends with the page's name is indented.
  const isText = (line: string) => page === undefined || /^\s/.test(line) || !line.endsWith(` ${page}`);
  const own = paragraphs.map((lines) => lines.filter(isText));
  const blocks = parseBlocks(own.filter(({ length }) => length > 0));
  if (page !== undefined) return { title: page === page.toUpperCase() ? page.toLowerCase() : page, blocks };
  const [first, ...rest] = blocks;
  const opensWithTitle = first?.kind === 'paragraph' && rest.length > 0 && title.test(first.text);
  return { blocks: opensWithTitle ? [{ kind: 'heading', level: 1, text: first.text }, ...rest] : blocks };
}

function splitLines(paragraph: string): string[] {
  const lines = paragraph.split('\n').map((line) => withoutTabs(line.trimEnd()));
  return lines.filter((line) => line !== '');
}

/** An item, if it starts with a marker: every bullet becomes `-`, and numbers are kept. */
export function textBlock(text: string): Block {
  const [mark] = marker.exec(text) ?? [];
  if (mark === undefined) return { kind: 'paragraph', text };
  const number = /\d+/.exec(mark)?.[0];
  return { kind: 'item', text: `${number === undefined ? '-' : `${number}.`} ${text.slice(mark.length)}` };
}

function parseBlocks(paragraphs: readonly (readonly string[])[]): Block[] {
  const join = lineJoiner(paragraphs.flat());
  const blocks: Block[] = [];
  /** The indentation of the option whose description is being read. */
  let optionIndent: number | undefined;
  for (const [at, lines] of paragraphs.entries()) {
    const body = withoutHeadings(lines, paragraphs[at + 1]?.[0]);
    if (body.length > 0) readBody(body);
  }
  return blocks;

  /** A paragraph may start with headings. `next` is the line after the paragraph. */
  function withoutHeadings(lines: readonly string[], next: string | undefined): readonly string[] {
    let from = 0;
    for (; from < lines.length; from += 1) {
      const [first, second] = [lines[from]!, lines[from + 1]];
      // An underline without a heading above it separates paragraphs.
      const level = underline.test(first) ? 0 : findHeadingLevel(first, second, next);
      if (level === undefined) break;
      optionIndent = undefined;
      if (level > 0) blocks.push({ kind: 'heading', level, text: evenSpaces(first) });
    }
    return lines.slice(from);
  }

  function readBody(lines: readonly string[]): void {
    if (measureIndent(lines[0]!) <= (optionIndent ?? -1) && optionAt(lines, 0) === undefined) {
      blocks.push({ kind: 'heading', level: termLevel, text: '' });
      optionIndent = undefined;
    }
    // Most lines of columns, drawings and code have wide gaps.
    const wide = lines.filter((line, at) => /\S {4,}\S/.test(line) && optionAt(lines, at) === undefined);
    if (lines.length > 1 && wide.length > lines.length / 2) {
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
      const { name, description } = optionAt(lines, index) ?? {};
      if (name !== undefined) {
        start(description);
        blocks.push({ kind: 'heading', level: termLevel, text: evenSpaces(name) });
        optionIndent = measureIndent(line);
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

  /** The option whose description starts at this line. Running text may have an option at the start of a line. */
  function optionAt(lines: readonly string[], index: number) {
    const line = lines[index]!;
    const [, name, description] = option.exec(line) ?? [];
    const indent = measureIndent(line);
    if (name === undefined || line.length > questionLengthMax || indent > (optionIndent ?? indent))
      return undefined;
    const [above, below = ''] = [lines[index - 1], lines[index + 1]];
    if (above !== undefined && measureIndent(above) === indent && !option.test(above)) return undefined;
    const isDescribed = description !== undefined || lines.length === 1;
    return isDescribed || measureIndent(below) > indent || option.test(below)
      ? { name, description }
      : undefined;
  }
}

/** The level of a heading in the first line of a paragraph. */
function findHeadingLevel(
  first: string,
  second: string | undefined,
  next: string | undefined,
): number | undefined {
  const isUnderlined = first.length <= questionLengthMax && !/[.,;]$/.test(first);
  if (isUnderlined && underline.test(second ?? '')) return 1 + underlines.indexOf(second!.trim().charAt(0));
  if (capitals.test(first) && !capitals.test(second ?? next ?? '')) return 2;
  const [mark, deeper] = number.exec(first) ?? [];
  if (mark === undefined || first.length > headingLengthMax || /[.,:;!]$/.test(first)) return undefined;
  // '1.2 Details' may have text directly below. '3. Next' is an item of a list if another item follows.
  if (deeper !== undefined && /^(?:\p{Lu}|$)/u.test(second ?? '')) return 2 + deeper.split('.').length;
  return second === undefined && next !== undefined && !marker.test(next) ? 3 : undefined;
}

function measureIndent(line: string): number {
  return line.length - line.trimStart().length;
}

/** Expands tabs to the next multiple of 8 columns. */
function withoutTabs(line: string): string {
  const cells = line.split('\t');
  if (cells.length > tabsMax) return cells.join(' ');
  return cells.reduce((text, cell) => `${text}${' '.repeat(8 - (text.length % 8))}${cell}`);
}

/** First parts of compounds, such as `well-known`: a hyphen after them is kept at a line end. */
const prefixes = /^(?:all|cross|end|ex|half|high|long|low|non|read|self|short|single|two|user|well|write)$/;
/** With the word that it cuts. Not in `pre- and post-`. */
const lineEndHyphen = /([-\u2010])(?<=(\S{1,60}).)\n(?!(?:and|or|to)\b)(?=([\p{L}\p{N}]{1,60}))/gu;
/** Limits the length of a word: text without spaces would take quadratic time otherwise, or overflow the stack. */
const compound = /(?<!\p{L})\p{L}{1,60}-\p{L}{1,60}(?!\p{L})/gu;

/** Joins lines, and words hyphenated at a line end. A hyphen that the text also has within a line belongs to its word. */
export function lineJoiner(text: readonly string[]): (lines: readonly string[]) => string {
  const compounds = new Set(
    text.flatMap((line) => line.toLowerCase().replaceAll('\u2010', '-').match(compound) ?? []),
  );
  const joint = (_: string, hyphen: string, token: string, tail: string) => {
    const head = /^(?![-/]).*?(\p{L}+)$/u.exec(token)?.[1]?.toLowerCase() ?? '';
    const isCompound = compounds.has(`${head}-${tail}`) || (hyphen === '-' && prefixes.test(head));
    return head === '' || isCompound || !/^\p{Ll}+$/u.test(tail) ? '-' : '';
  };
  return (lines) => {
    const trimmed = lines.map((line) => line.trim());
    return evenSpaces(trimmed.join('\n').replace(lineEndHyphen, joint));
  };
}
