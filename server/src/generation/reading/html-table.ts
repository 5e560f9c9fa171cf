import { evenSpaces } from './blocks.ts';
import { isSkipped } from './html-elements.ts';
import { attribute, type Element, findElement, walk } from './html-tree.ts';
import { tableText } from './table.ts';

const spanMax = 50;

interface Cell {
  text: string;
  readonly isHeader: boolean;
  readonly columns: number;
  readonly rows: number;
}

/** Whether a table holds data, and is not there to place the parts of a page. */
export function isDataTable(table: Element): boolean {
  if (/^(?:presentation|none)$/.test(attribute(table, 'role') ?? '')) return false;
  return findElement(table, ({ tagName }) => /^(?:table|h[1-6]|pre|form)$/.test(tagName)) === undefined;
}

export function captionOf(table: Element): string {
  const caption = findElement(table, ({ tagName }) => tagName === 'caption');
  return caption === undefined ? '' : textOf(caption);
}

/** The table in Markdown, or nothing where it is empty. Its first row is the header where it has only header cells. */
export function tableMarkdown(table: Element): string {
  const rows = spread(cellsOf(table));
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const texts = rows.map((row) => Array.from({ length: width }, (_, column) => row[column]?.text ?? ''));
  const [first, ...rest] = texts;
  if (first === undefined) return '';
  const hasHeader = rest.length > 0 && rows[0]?.every((cell) => cell.isHeader);
  return hasHeader
    ? tableText(first, rest)
    : tableText(
        first.map(() => ''),
        texts,
      );
}

function cellsOf(table: Element): Cell[][] {
  const rows: Cell[][] = [];
  walk(table, {
    enter(element) {
      if (element.tagName === 'tr') rows.push([]);
      if (element.tagName !== 'td' && element.tagName !== 'th') return !isSkipped(element);
      rows.at(-1)?.push({
        text: textOf(element),
        isHeader: element.tagName === 'th',
        columns: span(element, 'colspan'),
        rows: span(element, 'rowspan'),
      });
      return false;
    },
    leave() {},
    text() {},
  });
  return rows.filter((row) => row.some((cell) => cell.text !== ''));
}

/** A cell that spans several places stands in each row once for every column it covers. */
function spread(rows: readonly Cell[][]): Cell[][] {
  const held: ({ cell: Cell; rowsLeft: number } | undefined)[] = [];
  return rows.map((row) => {
    const placed: Cell[] = [];
    const placeHeld = () => {
      for (
        let above = held[placed.length];
        above !== undefined && above.rowsLeft > 0;
        above = held[placed.length]
      ) {
        above.rowsLeft -= 1;
        placed.push(above.cell);
      }
    };
    for (const cell of row) {
      placeHeld();
      for (let column = 0; column < cell.columns; column += 1) {
        held[placed.length] = { cell, rowsLeft: cell.rows - 1 };
        placed.push(column === 0 || cell.isHeader ? cell : { ...cell, text: '' });
      }
    }
    placeHeld();
    return placed;
  });
}

function span(cell: Element, name: string): number {
  const count = Number(attribute(cell, name));
  return Number.isInteger(count) ? Math.min(Math.max(count, 1), spanMax) : 1;
}

function textOf(element: Element): string {
  const parts: string[] = [];
  walk(element, {
    enter(child) {
      if (child.tagName === 'br' || child.tagName === 'p' || child.tagName === 'li') parts.push(' ');
      return !isSkipped(child);
    },
    leave(child) {
      if (child.tagName === 'p' || child.tagName === 'li' || child.tagName === 'div') parts.push(' ');
    },
    text: (value) => parts.push(value),
  });
  return evenSpaces(parts.join(''));
}
