import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5';
import { words } from '../retrieval/stop-words.ts';
import { type Block, evenSpaces, type Reading, termLevel } from './blocks.ts';
import { tableText } from './passage-parts.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

/** Elements within a line of text. Every other element is a block. */
const inline = words(`a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark
  math mi mn mo mrow ms mtext nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr`);
const skipped = words(`head script style noscript template nav footer svg canvas iframe object embed audio
  video map button select option input textarea datalist progress meter dialog menu`);
const spanMax = 50;

/** Reads a page: its main element if it has one, without menus, footers, scripts and hidden elements. */
export function readHtml(source: string): Reading {
  const page = parse(source);
  const find = (isWanted: (element: Element) => boolean) => elementsBelow(page).find(isWanted);
  const title = find(({ tagName }) => tagName === 'title');
  const main = find((one) => one.tagName === 'main' || attribute(one, 'role') === 'main');
  const canonical = find(
    (one) => one.tagName === 'link' && /^\s*canonical\s*$/i.test(attribute(one, 'rel') ?? ''),
  );
  const blocks = main === undefined ? [] : blocksBelow(main);
  return {
    title: title && readText(title),
    url: canonical && attribute(canonical, 'href'),
    blocks: blocks.length > 0 ? blocks : blocksBelow(page),
  };
}

/** Unlike in a page, text outside a main element counts: Markdown may mention the element. */
export function htmlBlocks(fragment: string): Block[] {
  return blocksBelow(parseFragment(fragment));
}

function blocksBelow(root: Parent): Block[] {
  const reader = new BlockReader();
  reader.read(root);
  return reader.blocks;
}

/** Collects text until a block starts or ends. Recursive: a page that is nested too deeply fails with a RangeError. */
class BlockReader {
  readonly blocks: Block[] = [];
  #text: string[] = [];

  read(parent: Parent): void {
    this.#readInline(parent);
    this.#flush();
  }

  #readInline(parent: Parent): void {
    for (const node of parent.childNodes) {
      if ('value' in node) this.#text.push(node.value);
      if (!isElement(node) || isSkipped(node)) continue;
      if (node.tagName === 'br') this.#text.push('\n');
      if (inline.has(node.tagName)) this.#readInline(node);
      else this.#readBlock(node);
    }
  }

  #flush(): void {
    this.#add({ kind: 'paragraph', text: evenSpaces(this.#text.join('')) });
    this.#text = [];
  }

  #readBlock(element: Element): void {
    this.#flush();
    const tag = element.tagName;
    const level = tag === 'dt' ? termLevel : Number(/^h([1-6])$/.exec(tag)?.[1]);
    if (level > 0) this.#add({ kind: 'heading', level, text: readText(element).replace(/\s?¶$/, '') });
    else if (tag === 'pre') this.#add({ kind: 'code', text: rawText(element).replace(/^\n+/, '').trimEnd() });
    else if (tag === 'table' && isDataTable(element)) this.#readTable(element);
    else if (tag === 'ol') this.#readNumbered(element);
    else if (tag === 'li') this.#readItem(element, '-');
    else {
      this.read(element);
      if (tag === 'dl') this.blocks.push({ kind: 'heading', level: termLevel, text: '' });
    }
  }

  #readNumbered(list: Element): void {
    let number = Number(/^\s*[-+]?\d+/.exec(attribute(list, 'start') ?? '')?.[0] ?? 1);
    for (const child of list.childNodes.filter(isElement)) {
      if (child.tagName === 'li') this.#readItem(child, `${number++}.`);
      else this.#readBlock(child);
    }
  }

  /** The paragraphs at the start of an item are its text. The other blocks follow it. */
  #readItem(element: Element, marker: string): void {
    const blocks = blocksBelow(element);
    const firstOther = blocks.findIndex(({ kind }) => kind !== 'paragraph');
    const own = blocks.slice(0, firstOther < 0 ? blocks.length : firstOther);
    // Removes the checkbox of a Markdown task, and a bullet that is written as text.
    const text = joinedTexts(own).replace(/^(?:\[[ xX]\]|[-*•‣–]) /, '');
    if (text !== '' && !isContentsEntry(element, text))
      this.#add({ kind: 'item', text: `${marker} ${text}` });
    // Not `push(...blocks)`: a list may have more items than a call may have arguments.
    for (const block of blocks.slice(own.length)) this.blocks.push(block);
  }

  #readTable(table: Element): void {
    const caption = elementsBelow(table).find(({ tagName }) => tagName === 'caption');
    if (caption !== undefined) this.#add({ kind: 'paragraph', text: readText(caption) });
    const [header, ...rows] = tableGrid(table);
    if (header !== undefined && rows.length > 0) this.#add({ kind: 'table', text: tableText(header, rows) });
  }

  #add(block: Block): void {
    if (block.text !== '') this.blocks.push(block);
  }
}

function readText(element: Element): string {
  return joinedTexts(blocksBelow(element));
}

function joinedTexts(blocks: readonly Block[]): string {
  const texts = blocks.map(({ kind, text }) => (kind === 'item' ? text.replace(/^\S+ /, '') : text));
  return evenSpaces(texts.join(' '));
}

function rawText(parent: Parent): string {
  return parent.childNodes
    .map((node) => ('value' in node ? node.value : isElement(node) && !isSkipped(node) ? rawText(node) : ''))
    .join('');
}

function isSkipped(element: Element): boolean {
  const isHidden = attribute(element, 'hidden') !== undefined || attribute(element, 'aria-hidden') === 'true';
  if (isHidden || skipped.has(element.tagName)) return true;
  // Generated pages end a heading with a link to itself.
  const [child] = element.childNodes;
  if (element.tagName === 'a' && child && 'value' in child && /^[#¶]$/.test(child.value)) return true;
  return /^(?:navigation|search|menu|menubar)$/.test(attribute(element, 'role') ?? '');
}

/** Whether an item is part of a table of contents: its text is a link within the page, and nothing else. */
function isContentsEntry(item: Element, text: string): boolean {
  let link: Element | undefined = item;
  while (link !== undefined && link.tagName !== 'a') link = link.childNodes.find(isElement);
  if (link === undefined || !/^#./.test(attribute(link, 'href') ?? '')) return false;
  return evenSpaces(rawText(link)) === text;
}

function isDataTable(table: Element): boolean {
  if (/^(?:presentation|none)$/.test(attribute(table, 'role') ?? '')) return false;
  return !elementsBelow(table).some(({ tagName }) => /^(?:table|h[1-6]|pre|form)$/.test(tagName));
}

/** The rows that are not empty, below a header that may be. Cells that span rows, and headers that span columns, are repeated. */
function tableGrid(table: Element): string[][] {
  const rows: Element[][] = [];
  for (const element of elementsBelow(table)) {
    if (element.tagName === 'tr') rows.push([]);
    if (element.tagName === 'td' || element.tagName === 'th') rows.at(-1)?.push(element);
  }
  const grid: string[][] = rows.map(() => []);
  for (const [y, cells] of rows.entries()) {
    let x = 0;
    for (const cell of cells) {
      while (grid[y]?.[x] !== undefined) x += 1;
      const text = readText(cell);
      const end = x + parseSpan(cell, 'colspan');
      for (const line of grid.slice(y, y + parseSpan(cell, 'rowspan')))
        for (let at = x; at < end; at += 1) line[at] = at === x || cell.tagName === 'th' ? text : '';
      x = end;
    }
  }
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const padded = grid.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? ''));
  const filled = padded.filter((row) => row.some((cell) => cell !== ''));
  const isHeader = rows[padded.indexOf(filled[0]!)]?.every(({ tagName }) => tagName === 'th');
  return isHeader && filled.length > 1 ? filled : [Array.from({ length: width }, () => ''), ...filled];
}

function parseSpan(cell: Element, name: string): number {
  const count = Number(attribute(cell, name));
  return Number.isInteger(count) ? Math.min(Math.max(count, 1), spanMax) : 1;
}

function* elementsBelow(root: Parent): Generator<Element> {
  const open: Node[] = root.childNodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isElement(node)) continue;
    yield node;
    for (let at = node.childNodes.length - 1; at >= 0; at -= 1) open.push(node.childNodes[at]!);
  }
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((candidate) => candidate.name === name)?.value;
}

function isElement(node: Node): node is Element {
  return 'tagName' in node;
}
