import { evenSpaces } from './blocks.ts';
import { isSkipped } from './html-elements.ts';
import { attribute, type Element, findElement, walk } from './html-tree.ts';
import { rowText } from './table-row.ts';

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

/** The rows as lines of text, each cell with the heading of its column. */
export function tableLines(table: Element): string[] {
  const rows = spread(cellsOf(table));
  const [first, ...rest] = rows;
  if (first === undefined) return [];
  if (rest.length > 0 && first.every((cell) => cell.isHeader)) {
    const header = first.map((cell) => cell.text);
    return rest.map((row) =>
      rowText(
        header,
        row.map((cell) => cell.text),
      ),
    );
  }
  return rows.map(rowWithoutHeader);
}

/** Two cells, or a heading at the row's beginning, are a name and what belongs to it. */
function rowWithoutHeader(row: readonly Cell[]): string {
  const [name, ...values] = row;
  const value = rowText(
    [],
    values.map((cell) => cell.text),
  );
  if (name === undefined || name.text === '' || value === '') return name?.text || value;
  return name.isHeader || row.length === 2 ? rowText([name.text], [value]) : `${name.text}; ${value}`;
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
