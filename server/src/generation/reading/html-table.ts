import { attribute, type Element, elementsBelow, findElement } from './html-tree.ts';
import { tableText } from './table.ts';

const spanMax = 50;

/** Whether a table holds data, and does not lay out a page. */
export function isDataTable(table: Element): boolean {
  if (/^(?:presentation|none)$/.test(attribute(table, 'role') ?? '')) return false;
  return findElement(table, ({ tagName }) => /^(?:table|h[1-6]|pre|form)$/.test(tagName)) === undefined;
}

/** The table in Markdown; empty if it has no text. Its first row is the header if it has only header cells. */
export function tableMarkdown(table: Element, textOf: (cell: Element) => string): string {
  const rows: Element[][] = [];
  for (const element of elementsBelow(table)) {
    if (element.tagName === 'tr') rows.push([]);
    if (element.tagName === 'td' || element.tagName === 'th') rows.at(-1)?.push(element);
  }
  const grid = gridOf(rows, textOf);
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const lines = grid
    .map((row) => Array.from({ length: width }, (_, column) => row[column] ?? ''))
    .filter((row) => row.some((cell) => cell !== ''));
  const [first, ...rest] = lines;
  if (first === undefined) return '';
  const hasHeader = rest.length > 0 && rows.find((row) => row.length > 0)?.every(isHeader);
  return hasHeader
    ? tableText(first, rest)
    : tableText(
        Array.from(first, () => ''),
        lines,
      );
}

/** A cell that spans several rows is in each of them; one that spans columns is in the first, a header in all. */
function gridOf(rows: readonly Element[][], textOf: (cell: Element) => string): string[][] {
  const grid: string[][] = rows.map(() => []);
  for (const [y, row] of rows.entries()) {
    let x = 0;
    for (const cell of row) {
      while (grid[y]?.[x] !== undefined) x += 1;
      const text = textOf(cell);
      const [columns, depth] = [spanOf(cell, 'colspan'), spanOf(cell, 'rowspan')];
      for (const line of grid.slice(y, y + depth)) {
        for (let column = 0; column < columns; column += 1) {
          line[x + column] = column === 0 || isHeader(cell) ? text : '';
        }
      }
      x += columns;
    }
  }
  return grid;
}

function isHeader(cell: Element): boolean {
  return cell.tagName === 'th';
}

function spanOf(cell: Element, name: string): number {
  const count = Number(attribute(cell, name));
  return Number.isInteger(count) ? Math.min(Math.max(count, 1), spanMax) : 1;
}
