import type { DefaultTreeAdapterTypes } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
export type Parent = DefaultTreeAdapterTypes.ParentNode;

const skipped = new Set(
  (
    'head script style noscript template nav footer svg canvas iframe object embed audio video map ' +
    'button select option input textarea datalist progress meter dialog menu'
  ).split(' '),
);
const spanMax = 50;

/** The elements below a node, in document order. */
function* elementsBelow(root: Parent): Generator<Element> {
  const open: Node[] = root.childNodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isElement(node)) continue;
    yield node;
    for (let at = node.childNodes.length - 1; at >= 0; at -= 1) open.push(node.childNodes[at]!);
  }
}

/** The first element below a node that fits. */
export function findElement(root: Parent, fits: (element: Element) => boolean): Element | undefined {
  for (const element of elementsBelow(root)) if (fits(element)) return element;
  return undefined;
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((candidate) => candidate.name === name)?.value;
}

export function isElement(node: Node): node is Element {
  return 'tagName' in node;
}

/** Whether an element is invisible, or is no part of the page's text. */
export function isSkipped(element: Element): boolean {
  if (skipped.has(element.tagName) || attribute(element, 'hidden') !== undefined) return true;
  if (attribute(element, 'aria-hidden') === 'true') return true;
  // Generated pages end a heading with a link to itself.
  const [child] = element.childNodes;
  if (element.tagName === 'a' && child !== undefined && 'value' in child && /^[#¶]$/.test(child.value))
    return true;
  return /^(?:navigation|search|menu|menubar)$/.test(attribute(element, 'role') ?? '');
}

/** Whether a table holds data, rather than lays out a page. */
export function isDataTable(table: Element): boolean {
  if (/^(?:presentation|none)$/.test(attribute(table, 'role') ?? '')) return false;
  return findElement(table, ({ tagName }) => /^(?:table|h[1-6]|pre|form)$/.test(tagName)) === undefined;
}

/**
 * The texts of a table's cells, without empty rows. The first row is the header if it has only header cells. A cell that spans rows is repeated in each of them. One that spans
 * columns is in the first of them, or in all if it is a header.
 */
export function tableGrid(
  table: Element,
  textOf: (cell: Element) => string,
): { header: string[]; rows: string[][] } {
  const cells: Element[][] = [];
  for (const element of elementsBelow(table)) {
    if (element.tagName === 'tr') cells.push([]);
    if (element.tagName === 'td' || element.tagName === 'th') cells.at(-1)?.push(element);
  }
  const grid: string[][] = cells.map(() => []);
  for (const [y, row] of cells.entries()) {
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
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const padded = grid.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? ''));
  const filled = padded.filter((row) => row.some((cell) => cell !== ''));
  const first = cells.findIndex((row) => row.length > 0);
  const header = cells[first]?.every(isHeader) ? padded[first] : undefined;
  const rows = filled.filter((row) => row !== header);
  return header === undefined || rows.length === 0
    ? { header: Array.from({ length: width }, () => ''), rows: filled }
    : { header, rows };
}

function isHeader(cell: Element): boolean {
  return cell.tagName === 'th';
}

function spanOf(cell: Element, name: string): number {
  const count = Number(attribute(cell, name));
  return Number.isInteger(count) ? Math.min(Math.max(count, 1), spanMax) : 1;
}
