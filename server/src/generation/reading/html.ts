import { parse, parseFragment } from 'parse5';
import { type Block, evenSpaces, itemBlocks, type Reading, webAddress } from './blocks.ts';
import { isDataTable, tableMarkdown } from './html-table.ts';
import { attribute, type Element, findElement, isElement, isSkipped, type Parent } from './html-tree.ts';

/** Text runs on through these. Every other element is a block. */
const inline = new Set(
  (
    'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math mi mn mo mrow ms mtext ' +
    'nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr'
  ).split(' '),
);

/** A page: its main part if it names one, without menus, scripts and hidden elements. */
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

/** The blocks of HTML inside a Markdown text. */
export function htmlBlocks(fragment: string): Block[] {
  return blocksBelow(parseFragment(fragment));
}

function blocksBelow(root: Parent): Block[] {
  const reader = new BlockReader();
  reader.read(root, false);
  reader.flush();
  return reader.blocks;
}

/** Collects text until a block begins or ends. Recursive: a page that is nested too deeply ends with a RangeError. */
class BlockReader {
  readonly blocks: Block[] = [];
  #text: string[] = [];

  read(parent: Parent, isInArticle: boolean): void {
    for (const node of parent.childNodes) {
      if ('value' in node) this.#text.push(node.value);
      if (!isElement(node) || isSkipped(node)) continue;
      if (node.tagName === 'footer' && !isInArticle) continue;
      if (node.tagName === 'br') this.#text.push('\n');
      if (inline.has(node.tagName)) {
        this.read(node, isInArticle);
        continue;
      }
      this.flush();
      this.#readBlock(node, isInArticle || node.tagName === 'article');
      this.flush();
    }
  }

  flush(): void {
    this.#add('paragraph', evenSpaces(this.#text.join('')));
    this.#text = [];
  }

  #readBlock(element: Element, isInArticle: boolean): void {
    const tag = element.tagName;
    if (/^h[1-6]$/.test(tag)) {
      // Without the mark that links to the heading.
      const text = textOf(element).replace(/ #$|\s?¶$/, '');
      if (text !== '') this.blocks.push({ kind: 'heading', level: Number(tag.charAt(1)), text });
    } else if (tag === 'pre') {
      this.#add('code', rawText(element).replace(/^\n+/, '').trimEnd());
    } else if (tag === 'table' && isDataTable(element)) {
      const caption = findElement(element, ({ tagName }) => tagName === 'caption');
      this.#add('paragraph', caption === undefined ? '' : textOf(caption));
      this.#add('table', tableMarkdown(element, textOf));
    } else if (tag === 'li') {
      this.#addAll(itemBlocks(blocksBelow(element)));
    } else if (tag === 'dl') {
      this.#readDefinitions(element);
    } else this.read(element, isInArticle);
  }

  /** One item per definition: 'Term: meaning'. */
  #readDefinitions(list: Element): void {
    let term = '';
    const parts = list.childNodes
      .filter(isElement)
      .flatMap((child) => (child.tagName === 'div' ? child.childNodes.filter(isElement) : [child]));
    for (const part of [...parts, undefined]) {
      const isMeaning = part?.tagName === 'dd';
      if (!isMeaning && term !== '') this.#add('item', term);
      if (part === undefined) return;
      const [first, ...rest] = isMeaning ? itemBlocks(blocksBelow(part)) : [];
      if (first?.kind === 'item' && term !== '')
        this.#add('item', `${term.replace(/:$/, '')}: ${first.text}`);
      else if (first !== undefined) this.blocks.push(first);
      this.#addAll(rest);
      term = isMeaning ? '' : textOf(part);
    }
  }

  /** Not by spreading into `push`: a list may have more items than a call may have arguments. */
  #addAll(blocks: readonly Block[]): void {
    for (const block of blocks) this.blocks.push(block);
  }

  #add(kind: 'paragraph' | 'item' | 'table' | 'code', text: string): void {
    if (text !== '') this.blocks.push({ kind, text });
  }
}

function textOf(element: Element): string {
  return evenSpaces(
    blocksBelow(element)
      .map(({ text }) => text)
      .join(' '),
  );
}

function rawText(parent: Parent): string {
  return parent.childNodes
    .map((node) => ('value' in node ? node.value : isElement(node) && !isSkipped(node) ? rawText(node) : ''))
    .join('');
}
