import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5';
import { type Block, evenSpaces, type Reading, webAddress } from './blocks.ts';
import { headingLevel, isInline, isSkipped } from './html-elements.ts';
import { captionOf, isDataTable, tableMarkdown } from './html-table.ts';
import { attribute, type Element, findElement, type Visitor, walk } from './html-tree.ts';

/** A page: its main part where it names one, without menus, scripts and what is hidden. */
export function readHtml(source: string): Reading {
  const page = parse(source);
  const main = findElement(
    page,
    (element) => element.tagName === 'main' || attribute(element, 'role') === 'main',
  );
  const blocks = main === undefined ? [] : blocksBelow(main);
  return {
    title: titleOf(page),
    url: webAddress(canonicalAddress(page)),
    blocks: blocks.length > 0 ? blocks : blocksBelow(page),
  };
}

/** What a piece of HTML says that stands within another text. */
export function htmlBlocks(fragment: string): Block[] {
  return blocksBelow(parseFragment(fragment));
}

function titleOf(page: DefaultTreeAdapterTypes.Document): string | undefined {
  const title = findElement(page, ({ tagName }) => tagName === 'title')?.childNodes[0];
  const text = title !== undefined && 'value' in title ? evenSpaces(title.value) : '';
  return text === '' ? undefined : text;
}

function canonicalAddress(page: DefaultTreeAdapterTypes.Document): string | undefined {
  const link = findElement(
    page,
    (element) => element.tagName === 'link' && /^canonical$/i.test(attribute(element, 'rel')?.trim() ?? ''),
  );
  return link === undefined ? undefined : attribute(link, 'href');
}

function blocksBelow(root: DefaultTreeAdapterTypes.ParentNode): Block[] {
  const visitor = new BlockVisitor();
  walk(root, visitor);
  visitor.flush();
  return visitor.blocks;
}

/** Gathers running text until an element that stands by itself begins or ends. */
class BlockVisitor implements Visitor {
  readonly blocks: Block[] = [];
  #text: string[] = [];
  #term = '';
  #preDepth = 0;
  #articleDepth = 0;
  /** For each open `li`, the index in `blocks` of its line; -1 before it has one. */
  readonly #items: number[] = [];

  enter(element: Element): boolean {
    const tag = element.tagName;
    const isOfPage = tag === 'footer' && this.#articleDepth === 0;
    if (isSkipped(element) || isOfPage) return false;
    if (tag === 'br') this.#text.push('\n');
    if (isInline(element)) return true;
    this.flush();
    if (tag === 'table' && isDataTable(element)) {
      this.#add('paragraph', captionOf(element));
      this.#add('table', tableMarkdown(element));
      return false;
    }
    if (tag === 'dt') this.#addTermAlone();
    if (tag === 'pre') this.#preDepth += 1;
    if (tag === 'article') this.#articleDepth += 1;
    if (tag === 'li') this.#items.push(-1);
    return true;
  }

  leave(element: Element): void {
    const tag = element.tagName;
    if (isInline(element)) return;
    const level = headingLevel(element);
    if (level !== undefined) this.#flushHeading(level);
    else if (tag === 'dt') this.#term = this.#takeText();
    else this.flush();
    if (tag === 'dl') this.#addTermAlone();
    if (tag === 'pre') this.#preDepth -= 1;
    if (tag === 'article') this.#articleDepth -= 1;
    if (tag === 'li') this.#items.pop();
  }

  text(value: string): void {
    this.#text.push(value);
  }

  flush(): void {
    if (this.#preDepth > 0) this.#flushCode();
    else if (this.#term !== '') this.#flushDefinition();
    else if (this.#items.length > 0) this.#flushItem();
    else this.#add('paragraph', this.#takeText());
  }

  #takeText(): string {
    const text = evenSpaces(this.#text.join(''));
    this.#text = [];
    return text;
  }

  #add(kind: 'paragraph' | 'item' | 'table' | 'code', text: string): void {
    if (text !== '') this.blocks.push({ kind, text });
  }

  #flushCode(): void {
    const text = this.#text.join('').replace(/^\n+/, '').trimEnd();
    this.#text = [];
    this.#add('code', text);
  }

  /** A second paragraph of the same line of a list goes on with it. */
  #flushItem(): void {
    const text = this.#takeText();
    if (text === '') return;
    const index = this.#items.at(-1) ?? -1;
    const line = this.blocks[index];
    if (line !== undefined && index === this.blocks.length - 1) {
      this.blocks[index] = { kind: 'item', text: `${line.text} ${text}` };
    } else {
      this.#items[this.#items.length - 1] = this.blocks.length;
      this.#add('item', text);
    }
  }

  #flushHeading(level: number): void {
    // The mark by which a heading is linked to, not part of its words.
    const text = this.#takeText().replace(/ #$|\s?¶$/, '');
    if (text !== '') this.blocks.push({ kind: 'heading', level, text });
  }

  #flushDefinition(): void {
    const text = this.#takeText();
    if (text === '') return;
    this.#add('item', `${this.#term.replace(/:$/, '')}: ${text}`);
    this.#term = '';
  }

  #addTermAlone(): void {
    this.#add('item', this.#term);
    this.#term = '';
  }
}
