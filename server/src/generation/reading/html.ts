import { parse, parseFragment } from 'parse5';
import { type Block, evenSpaces, type Reading, webAddress } from './blocks.ts';
import {
  attribute,
  type Element,
  findElement,
  isDataTable,
  isElement,
  isSkipped,
  type Parent,
  tableGrid,
} from './html-tree.ts';
import { tableText } from './table.ts';

/** Elements within a line of text. Every other element is a block. */
const inline = new Set(
  (
    'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math mi mn mo mrow ms mtext ' +
    'nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr'
  ).split(' '),
);

/** Reads a page: its main element if it has one, without menus, footers, scripts and hidden elements. */
export function readHtml(source: string): Reading {
  const page = parse(source);
  const find = (fits: (element: Element) => boolean) => findElement(page, fits);
  const title = find(({ tagName }) => tagName === 'title');
  const main = find((element) => element.tagName === 'main' || attribute(element, 'role') === 'main');
  const canonical = find(
    (element) => element.tagName === 'link' && /^canonical$/i.test(attribute(element, 'rel')?.trim() ?? ''),
  );
  const blocks = main === undefined ? [] : blocksBelow(main);
  return {
    title: (title && textOf(title)) || undefined,
    url: webAddress(canonical && attribute(canonical, 'href')),
    blocks: blocks.length > 0 ? blocks : blocksBelow(page),
  };
}

/** Reads HTML that is not a whole page. */
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
      else {
        this.#flush();
        this.#readBlock(node);
      }
    }
  }

  #flush(): void {
    this.#add('paragraph', evenSpaces(this.#text.join('')));
    this.#text = [];
  }

  #readBlock(element: Element): void {
    const tag = element.tagName;
    if (/^h[1-6]$/.test(tag)) {
      const text = textOf(element).replace(/\s?¶$/, '');
      if (text !== '') this.blocks.push({ kind: 'heading', level: Number(tag.charAt(1)), text });
    } else if (tag === 'pre') {
      this.#add('code', rawText(element).replace(/^\n+/, '').trimEnd());
    } else if (tag === 'table' && isDataTable(element)) {
      this.#readTable(element);
    } else if (tag === 'ol') {
      this.#readNumbered(element);
    } else if (tag === 'li') {
      this.#readItem(element, '-');
    } else if (tag === 'dt') {
      this.blocks.push({ kind: 'term', text: textOf(element) });
    } else {
      this.read(element);
      if (tag === 'dl') this.blocks.push({ kind: 'term', text: '' });
    }
  }

  #readNumbered(list: Element): void {
    let number = Number.parseInt(attribute(list, 'start') ?? '1', 10) || 1;
    for (const child of list.childNodes) {
      if (!isElement(child)) continue;
      if (child.tagName === 'li') this.#readItem(child, `${number++}.`);
      else this.#readBlock(child);
    }
  }

  /** The paragraphs at the start of an item are its text. The other blocks follow it. */
  #readItem(element: Element, marker: string): void {
    const blocks = blocksBelow(element);
    const firstOther = blocks.findIndex(({ kind }) => kind !== 'paragraph');
    const own = blocks.slice(0, firstOther < 0 ? blocks.length : firstOther);
    const text = joinedTexts(own);
    if (text !== '') this.blocks.push({ kind: 'item', marker, text });
    // Not `push(...blocks)`: a list may have more items than a call may have arguments.
    for (const block of blocks.slice(own.length)) this.blocks.push(block);
  }

  #readTable(table: Element): void {
    const caption = findElement(table, ({ tagName }) => tagName === 'caption');
    this.#add('paragraph', caption === undefined ? '' : textOf(caption));
    const { header, rows } = tableGrid(table, textOf);
    if (rows.length > 0) this.#add('table', tableText(header, rows));
  }

  #add(kind: 'paragraph' | 'table' | 'code', text: string): void {
    if (text !== '') this.blocks.push({ kind, text });
  }
}

function textOf(element: Element): string {
  return joinedTexts(blocksBelow(element));
}

function joinedTexts(blocks: readonly Block[]): string {
  return evenSpaces(blocks.map(({ text }) => text).join(' '));
}

function rawText(parent: Parent): string {
  return parent.childNodes
    .map((node) => ('value' in node ? node.value : isElement(node) && !isSkipped(node) ? rawText(node) : ''))
    .join('');
}
