/** A piece of a passage's text, at the offset `start`. */
export interface Piece {
  readonly text: string;
  readonly start: number;
}

/** Passages are plain text with blank lines between paragraphs, and with Markdown's lists, tables and fenced code. */
export type Block =
  | { readonly kind: 'paragraph' | 'code'; readonly piece: Piece }
  | { readonly kind: 'list'; readonly items: readonly Piece[] }
  | {
      readonly kind: 'table';
      readonly header: readonly Piece[];
      readonly rows: readonly (readonly Piece[])[];
    };

const item = /^ *(?:[-*•]|\d{1,3}[.)]) +/;
const rule = /^\|(?: *:?-+:? *\|)+$/;

/** The blocks of a passage, in order. */
export function passageBlocks(text: string): Block[] {
  const lines = splitLines(text);
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = endOfBlock(lines, at);
    const block = parseBlock(text, lines.slice(at, end));
    if (block !== undefined) blocks.push(block);
    at = end;
  }
  return blocks;
}

function splitLines(text: string): Piece[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const piece = { text: line, start };
    start += line.length + 1;
    return piece;
  });
}

type LineKind = 'blank' | 'fence' | 'row' | 'item' | 'text';

function classifyLine({ text }: Piece): LineKind {
  if (text.trim() === '') return 'blank';
  if (text.startsWith('```')) return 'fence';
  if (text.startsWith('|')) return 'row';
  return item.test(text) ? 'item' : 'text';
}

/** Code that contains fences is between longer ones. */
function closes({ text }: Piece, opening: Piece): boolean {
  return /^`+$/.test(text) && text.length >= /^`+/.exec(opening.text)![0].length;
}

/** Lines of the same kind are one block. Code ends with its closing fence, or with the passage. */
function endOfBlock(lines: readonly Piece[], at: number): number {
  const kind = classifyLine(lines[at]!);
  if (kind === 'fence') {
    const close = lines.findIndex((line, index) => index > at && closes(line, lines[at]!));
    return close < 0 ? lines.length : close + 1;
  }
  const next = lines.findIndex((line, index) => index > at && classifyLine(line) !== kind);
  return next < 0 ? lines.length : next;
}

function parseBlock(text: string, lines: readonly Piece[]): Block | undefined {
  const [first] = lines as [Piece];
  const last = lines.at(-1)!;
  const whole = { text: text.slice(first.start, last.start + last.text.length), start: first.start };
  switch (classifyLine(first)) {
    case 'blank':
      return undefined;
    case 'fence': {
      const start = first.start + first.text.length + 1;
      const isClosed = lines.length > 1 && closes(last, first);
      const end = isClosed ? last.start - 1 : last.start + last.text.length;
      return { kind: 'code', piece: { text: text.slice(start, Math.max(start, end)), start } };
    }
    case 'item':
      return { kind: 'list', items: lines.map(withoutMarker) };
    case 'row': {
      const rows = lines.filter((line) => !rule.test(line.text.trim())).map(splitCells);
      const hasHeader = lines[1] !== undefined && rule.test(lines[1].text.trim());
      return { kind: 'table', header: hasHeader ? rows[0]! : [], rows: hasHeader ? rows.slice(1) : rows };
    }
    default:
      return { kind: 'paragraph', piece: whole };
  }
}

function withoutMarker({ text, start }: Piece): Piece {
  const marker = item.exec(text)![0].length;
  return { text: text.slice(marker), start: start + marker };
}

/** `| a | b \| c |` has two cells. */
function splitCells({ text, start }: Piece): Piece[] {
  return [...text.matchAll(/\|((?:[^|\\]|\\.)*)(?=\|)/g)].map(({ 1: cell = '', index }) => {
    const trimmed = cell.trim();
    return { text: trimmed, start: start + index + 1 + cell.indexOf(trimmed) };
  });
}
