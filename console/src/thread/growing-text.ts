import { fenceAfter } from './markdown-parts.ts';

/**
 * Closes the open Markdown marks of a text that is still being written. No mark is visible for a moment, and the text
 * looks the same when the rest arrives.
 */
export function closeOpenMarks(written: string): string {
  const text = written.replace(/\r\n?/g, '\n');
  if (isInFence(text)) return text;
  const from = text.lastIndexOf('\n\n') + 1;
  const block = text.slice(from);
  return text.slice(0, from) + (isHeadOfTable(block) ? '\n' : closeInline(withoutLoneMarks(block)));
}

/** An unclosed fence already extends to the end of the text. */
function isInFence(text: string): boolean {
  let fence: string | undefined;
  for (const line of text.split('\n')) fence = fenceAfter(line, fence);
  return fence !== undefined;
}

/** Whether the lines become a table once its second line is complete. */
function isHeadOfTable(block: string): boolean {
  const [head = '', rule, ...rows] = block.trimStart().split('\n');
  if (!head.startsWith('|') || rows.length > 0) return false;
  return rule === undefined || (/^[\s|:-]*$/.test(rule) && cells(rule) < cells(head));
}

function cells(line: string): number {
  return line.split('|').length;
}

/** A lone `-` below a paragraph makes the paragraph a heading until a space after it makes a list. */
function withoutLoneMarks(block: string): string {
  return block.replace(/(^|\n)[ \t]*(?:[-=*+_`~#>]+|\d{1,9}[.)]?)[ \t]*$/, '$1');
}

function closeInline(block: string): string {
  const open = block.replace(/`[^`]*`/g, (code) => 'x'.repeat(code.length));
  if (open.includes('`')) return block.endsWith('`') ? block.slice(0, -1) : `${block}\``;
  // Takes linear time, because each part ends before the next opening bracket.
  const link = /!?\[[^[\]\n]*(?:\](?:\([^()\n]*)?)?$/.exec(open);
  const closed = link && !/^\[[\d,; ]+\]$/.test(link[0]) ? block.slice(0, link.index) : block;
  return closeEmphasis(closed);
}

function closeEmphasis(block: string): string {
  const bare = block.replace(/(?:\*{1,3}|_{1,3})$/, '');
  const strong = bare.replace(/`[^`]*`/g, '').match(/\*\*/g)?.length ?? 0;
  return strong % 2 === 0 ? bare : `${bare.trimEnd()}**`;
}
