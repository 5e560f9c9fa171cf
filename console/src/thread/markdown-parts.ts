/** For shorter texts, splitting costs more than it saves. */
const partLengthMin = 2_000;
/** `[1]: https://…`: links in any other part can refer to it. */
const definition = /^ {0,3}\[[^\]\n]+\]:/m;
/** After a blank line, these always start a new block. They cannot continue a list, quotation or table. */
const beginning = /^(?:\p{L}|#{1,6} |\*\*)/u;

/** The lines of a text, each with its end and without. A carriage return alone ends a line, too, as in Markdown. */
function splitLines(text: string): Iterable<RegExpExecArray> {
  return text.matchAll(/([^\r\n]*)(?:\r\n?|\n|$)/g);
}

/**
 * Splits a long Markdown text into parts that can be rendered separately. While the text grows, only the last part
 * changes, so the others are not parsed again: parsing 100 kB takes a second.
 */
export function markdownParts(text: string): string[] {
  if (text.length < 2 * partLengthMin || definition.test(text)) return [text];
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  let isAfterBlank = false;
  let fence: string | undefined;
  for (const [withEnd, line = ''] of splitLines(text)) {
    if (fence === undefined && isAfterBlank && at - from >= partLengthMin && beginning.test(line)) {
      parts.push(text.slice(from, at));
      from = at;
    }
    fence = fenceAfter(line, fence);
    isAfterBlank = line.trim() === '';
    at += withEnd.length;
  }
  return [...parts, text.slice(from)];
}

/**
 * Fifty quotations or lists that start in one line, an item that is indented as far as the fiftieth nested list, a run of
 * marks that would open a hundred emphases, or a table of a hundred columns, each of whose rows would be filled up to as
 * many cells.
 */
const deep =
  /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){50}|^[ \t>]{100,}(?:[-+*]|\d{1,9}[.)])[ \t]|[*_]{200}[^*_\s]|^(?:[ \t]*:?-+:?[ \t]*\||\|){100}/;
/** How many marks of emphases and links a paragraph may have. Parsing as many nested ones takes half a second. */
const marksMax = 1_500;
/** How many lines a part may have. Parsing 15,000 lines of underlined headings or of a wide table takes 15 s. */
const linesMax = 2_000;
/** Blank lines, list items and table rows. No emphasis or link continues from the line before. */
const separate = /^[ \t]*(?:$|\|.*\||(?:[-+*]|\d{1,9}[.)])[ \t])/;

/**
 * Whether a text outside of code may be nested too deeply, or have too many lines, to be formatted, for example because a
 * model repeats itself. Parsing time grows with the square of both (20 s for 16,000 characters of `1. 1. 1.`), and
 * parsing fails when the stack is used up.
 */
export function isTooComplex(text: string): boolean {
  let fence: string | undefined;
  let marks = 0;
  let lines = 0;
  for (const [, line = ''] of splitLines(text)) {
    const isCode = fence !== undefined && isWithin(line, fence);
    fence = fenceAfter(line, fence);
    if (!isCode && deep.test(line)) return true;
    const isText = !isCode && fence === undefined;
    if (!isText || separate.test(line)) marks = 0;
    if (isText) marks += line.match(/[*_~[\]]/g)?.length ?? 0;
    if (isText) lines += 1;
    if (marks > marksMax || lines > linesMax) return true;
  }
  return false;
}

/** Undefined if the text is too complex, or if the parser fails, for example because the stack is used up. */
export function formattedIfPossible<T>(text: string, format: () => T): T | undefined {
  if (isTooComplex(text)) return undefined;
  try {
    return format();
  } catch {
    return undefined;
  }
}

/**
 * A line that starts with a code fence, after the marks of the quotations and lists that it is in. Backticks that are
 * closed in the same line are inline code. Takes linear time.
 */
const fenceLine = /^((?:[ \t>]|(?:[-+*]|\d{1,9}[.)])[ \t])*)(`{3,}(?![^`]*`)|~{3,})(.*)$/;

/**
 * The code fence that is open after a line, given the one open before it. A fence is stored as the line that closes it.
 * A fence in a quotation or list also ends where the quotation or list ends.
 */
export function fenceAfter(line: string, before: string | undefined): string | undefined {
  const open = before !== undefined && isWithin(line, before) ? before : undefined;
  const [, start = '', mark, rest] = fenceLine.exec(line) ?? [];
  if (mark === undefined) return open;
  if (open === undefined) return (/^ {0,3}$/.test(start) ? '' : start.replace(/[^ \t>]/g, ' ')) + mark;
  const lead = readLead(open);
  const isThere = readLead(start) === start && start.length <= lead.length + 3;
  const isEnd = isThere && quotations(start) === quotations(lead) && rest?.trim() === '';
  return isEnd && mark.startsWith(open.slice(lead.length)) ? undefined : open;
}

/** Whether a line is in the same quotations and list items as a fence. The space after a `>` may be missing. */
function isWithin(line: string, fence: string): boolean {
  const needed = readLead(fence).replace(/> $/, '>').split('>');
  const lead = readLead(line);
  const indents = lead.split('>');
  if (lead.length === line.length) return indents.length >= needed.length;
  return needed.every((indent, place) => (indents[place]?.length ?? -1) >= indent.length);
}

function readLead(line: string): string {
  return /^[ \t>]*/.exec(line)![0];
}

function quotations(lead: string): number {
  return lead.split('>').length - 1;
}

/** The heading levels in a text, for example `23`, so that all of its parts rank headings alike. */
export function headingLevels(text: string): string {
  const levels = new Set<number>();
  let fence: string | undefined;
  for (const [, line = ''] of splitLines(text)) {
    fence = fenceAfter(line, fence);
    const mark = fence === undefined ? /^ {0,3}(#{1,6}) /.exec(line)?.[1] : undefined;
    if (mark !== undefined) levels.add(mark.length);
  }
  return [...levels].sort().join('');
}
