import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { printable, printableLines, splitGraphemes, unprintable } from '../../../runtime/src/pure/text.ts';

export { printable, printableLines };

type Style = Parameters<typeof styleText>[0];

/**
 * Rows of cells by their headings, which are the same in all rows. The headings are shown on a terminal only, so that
 * scripts get rows alone.
 */
export interface Table {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly whenEmpty: string;
}

export function listing(json: unknown, rows: Table['rows'], whenEmpty: string) {
  return { json, text: [{ rows, whenEmpty }] };
}

/** The text of a result: plain in a pipe, with headings and colors on a terminal. */
export function render(text: string | readonly (string | Table)[], clean: (text: string) => string): string {
  const parts = typeof text === 'string' ? [text] : text;
  return parts.map((part) => (typeof part === 'string' ? clean(part) : renderTable(part))).join('\n');
}

/** Colors a text where the stream can show it. `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are respected. */
export function paint(style: Style, text: string, stream: WriteStream = process.stdout): string {
  return styleText(style, text, { stream });
}

/** The names of fields that contain a time, which is in milliseconds in the domain. */
const timeName = /^at$|[a-z](?:At|Until)$/;

/** One line of JSON, with times as in the API. JSON itself escapes only some of what `printable` replaces. */
export function jsonLine(value: unknown): string {
  const withTimes = (name: string, field: unknown) =>
    typeof field === 'number' && timeName.test(name) ? new Date(field).toISOString() : field;
  const json = JSON.stringify(value, withTimes).replace(unprintable, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `${json}\n`;
}

/** The colors of cells with a meaning. */
const meanings: Readonly<Record<string, Style>> = {
  ok: 'green',
  FAIL: ['red', 'bold'],
  active: 'green',
  revoked: 'red',
  'API disabled': 'yellow',
  published: 'cyan',
};

function renderTable({ rows: [first, ...others], whenEmpty }: Table): string {
  if (first === undefined) return printableLines(whenEmpty);
  const headings = Object.keys(first);
  const cells = [first, ...others].map((row) => Object.values(row).map(printable));
  const shown = process.stdout.isTTY ? [headings, ...cells] : cells;
  // One argument per row would exceed the stack.
  const widest = (column: number) =>
    shown.reduce((most, row) => Math.max(most, measureWidth(row[column]!)), 0);
  const widths = headings.map((_, column) => widest(column));
  const lines = shown.map((row, index) => {
    const padded = row.map((cell, column) => {
      const missing = column === row.length - 1 ? 0 : widths[column]! - measureWidth(cell);
      const text = cell + ' '.repeat(missing);
      const style = index === 0 && shown !== cells ? 'bold' : meanings[cell.trim()];
      return style === undefined ? text : paint(style, text);
    });
    return padded.join('  ').trimEnd();
  });
  return lines.join('\n');
}

/** Characters of East Asian scripts, which take two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{20000}-\u{3fffd}]/gu;
const combining = /[\p{Mn}\p{Me}\p{Cf}]/gu;

/** The columns that a line takes on a terminal. A flag, or an emoji of several code points, is as wide as any emoji. */
export function measureWidth(line: string): number {
  if (/^[\x20-\x7e]*$/.test(line)) return line.length;
  let width = 0;
  for (const { segment } of splitGraphemes(line)) {
    const points = segment.replace(combining, '').replace(wide, '  ');
    width += /\p{Emoji_Presentation}/u.test(segment) ? 2 : [...points].length;
  }
  return width;
}

const eraseRest = '\u001b[K';
const noWrap = '\u001b[?7l';
const wrap = '\u001b[?7h';

/** Replaces the current line of a terminal. Wrapping is off, so the terminal cuts a text that is too long. */
export function showStatus(stream: WriteStream, text: string): void {
  stream.write(`\r${noWrap}${text}${eraseRest}${wrap}`);
}

export function clearStatus(stream: WriteStream = process.stderr): void {
  if (stream.isTTY) stream.write(`\r${eraseRest}`);
}

const barWidth = 30;

/** Shows a progress bar on standard error, until `clearStatus`; prints nothing unless that is a terminal. */
export function showProgress(done: number, total: number, doing: string): void {
  const { stderr } = process;
  if (!stderr.isTTY || total <= 1) return;
  const filled = Math.floor((done / total) * barWidth);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`;
  showStatus(stderr, `${bar} ${done}/${total} ${doing}`);
}
