/** Below this, parting costs more than it saves. */
const partLengthMin = 2_000;
/** `[1]: https://…`: what a link of any other part may stand for. */
const definition = /^ {0,3}\[[^\]\n]+\]:/m;
/** After a blank line, these begin a block whatever came before: no list, quotation or table goes on with them. */
const beginning = /^(?:\p{L}|#{1,6} |\*\*)/u;

/**
 * A long Markdown text in parts that mean the same apart. While it grows, all but the last stay as they are, so that
 * they are not read again: of a text of 100 kB, that takes a second.
 */
export function markdownParts(text: string): string[] {
  if (text.length < 2 * partLengthMin || definition.test(text)) return [text];
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  let isAfterBlank = false;
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    if (fence === undefined && isAfterBlank && at - from >= partLengthMin && beginning.test(line)) {
      parts.push(text.slice(from, at));
      from = at;
    }
    fence = fenceAfter(line, fence);
    isAfterBlank = line.trim() === '';
    at += line.length + 1;
  }
  return [...parts, text.slice(from)];
}

/** The fence of code that is open behind a line, given the one before it. */
export function fenceAfter(line: string, open: string | undefined): string | undefined {
  const [, mark, rest] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (mark === undefined) return open;
  if (open === undefined) return mark;
  return mark.startsWith(open) && rest?.trim() === '' ? undefined : open;
}

/** Which levels of headings a text has, such as `23`: parts of it agree on their rank. */
export function headingLevels(text: string): string {
  const levels = new Set<number>();
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    fence = fenceAfter(line, fence);
    const mark = fence === undefined ? /^ {0,3}(#{1,6}) /.exec(line)?.[1] : undefined;
    if (mark !== undefined) levels.add(mark.length);
  }
  return [...levels].sort().join('');
}
