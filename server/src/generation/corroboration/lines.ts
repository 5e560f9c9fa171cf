/** A line of a Markdown text, with its line break. */
export interface Line {
  readonly text: string;
  /** `heading`: nothing is stated in it. The header of a table is one, and so are rules. */
  readonly kind: 'text' | 'item' | 'row' | 'heading' | 'code' | 'blank';
}

const prefix = /^[\s>]*/;
const item = /^(?:[-*+•]|\d{1,9}[.)])\s+/;
const underline = /^(?:=+|-+)\s*$/;

/** The lines of a Markdown text by what they are. A very long line comes in parts. */
export function* linesOf(draft: string, lengthMax: number): Generator<Line> {
  const lines = draft.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const titles = setextTitles(lines);
  let fence: string | undefined;
  let isTable = false;
  let isCode = false;
  let isAfterBlank = true;
  /** Where the text of the current list item begins. */
  let itemColumn = 0;
  for (const [at, text] of lines.entries()) {
    const body = text.replace(prefix, '');
    const isItem = item.test(body);
    const content = body.replace(item, '');
    const wasFenced = fence !== undefined;
    fence = fenceAfter(wasFenced ? body : content, fence);
    const isFenced = wasFenced || fence !== undefined;
    const column = columnOf(text);
    isCode = isFenced || (body !== '' && (isAfterBlank || isCode) && column >= itemColumn + 4);
    const isHeader = !isCode && body.includes('|') && isTableRule(lines[at + 1] ?? '');
    const isHeading = isHeader || titles.has(at) || /^#{1,6}\s/.test(content) || isTableRule(body);
    isTable = isHeader || (isTable && body !== '' && !isCode && !isItem && !content.startsWith('#'));
    if (isCode) yield { text, kind: 'code' };
    else if (body === '') yield { text, kind: 'blank' };
    else if (isHeading || underline.test(body)) yield { text, kind: 'heading' };
    else yield* cut(text, isTable || body.startsWith('|') ? 'row' : isItem ? 'item' : 'text', lengthMax);
    if (isItem && !isCode) itemColumn = column + body.length - content.length;
    else if (isAfterBlank && body !== '' && column === 0) itemColumn = 0;
    isAfterBlank = body === '';
  }
}

/** How far a line is indented, within its quotation. */
function columnOf(text: string): number {
  const spaces = /^(?: {0,3}> ?)*([ \t]*)/.exec(text)![1]!;
  return spaces.replaceAll('\t', '    ').length;
}

function isTableRule(line: string): boolean {
  return line.includes('|') && line.includes('-') && /^[\s>|:-]+$/.test(line);
}

/** The fence of a code block that is open behind a line, given the one before it. */
function fenceAfter(body: string, open: string | undefined): string | undefined {
  const [, mark, rest] = /^(`{3,}|~{3,})(.*)/.exec(body) ?? [];
  if (mark === undefined) return open;
  if (open === undefined) return mark.startsWith('`') && rest!.includes('`') ? undefined : mark;
  return mark.startsWith(open) && rest!.trim() === '' ? undefined : open;
}

/** The lines of paragraphs that are underlined with `===` or `---`, which makes them headings. */
function setextTitles(lines: readonly string[]): Set<number> {
  const titles = new Set<number>();
  for (let at = lines.length - 2; at >= 0; at--) {
    const [line, next] = [lines[at]!, lines[at + 1]!];
    const [body, below] = [line.replace(prefix, ''), next.replace(prefix, '')];
    if (body === '' || item.test(body) || body.startsWith('#') || quotes(line) !== quotes(next)) continue;
    if (titles.has(at + 1) || (underline.test(below) && !underline.test(body))) titles.add(at);
  }
  return titles;
}

function quotes(line: string): number {
  return prefix.exec(line)![0].replace(/[^>]/g, '').length;
}

function* cut(text: string, kind: Line['kind'], lengthMax: number): Generator<Line> {
  let from = 0;
  while (text.length - from > lengthMax) {
    const space = text.lastIndexOf(' ', from + lengthMax - 1);
    const to = space > from ? space + 1 : from + lengthMax;
    yield { text: text.slice(from, to), kind };
    from = to;
  }
  yield { text: text.slice(from), kind };
}
