/** An HTML node as the Markdown library represents it between parsing and rendering. */
export interface HtmlNode {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: HtmlNode[];
  /** Its position in the Markdown. */
  position?: { start: { offset?: number }; end: { offset?: number } };
}

interface MarkContext {
  readonly sourceCount: number;
  readonly isCode: boolean;
  readonly isLink: boolean;
}

interface MarkOptions {
  readonly sourceCount: number;
  /** The levels of the whole text: see `headingLevels`. */
  readonly headings: string;
}

/** `[1]` and `[1, 3]`; not `list[1]`. */
const citation = /(?<![A-Za-z0-9_)])\[(\d{1,3}(?: {0,2}[,;] {0,2}\d{1,3})*)\]/g;

/**
 * Prepares a reply's HTML for the page: citations become buttons, images become links (nothing is loaded from other
 * sites), headings are ranked below those of the page, and ids are removed because two replies could share them.
 */
export function markReply({ sourceCount, headings }: MarkOptions): (tree: HtmlNode) => void {
  return (tree) => {
    tree.children = markChildren(tree, { sourceCount, isCode: false, isLink: false });
    rankHeadings(tree, headings);
  };
}

/**
 * The page has the first heading level and each message the second. Headings in a reply start below these and skip no
 * level.
 */
function rankHeadings(node: HtmlNode, levels: string): void {
  for (const child of node.children ?? []) {
    const level = /^h([1-6])$/.exec(child.tagName ?? '')?.[1];
    if (level === undefined) rankHeadings(child, levels);
    else child.tagName = `h${Math.min(6, 3 + [...levels].filter((other) => other < level).length)}`;
  }
}

function markChildren(node: HtmlNode, context: MarkContext): HtmlNode[] {
  return (node.children ?? []).flatMap((child) => markNode(child, context));
}

function markNode(node: HtmlNode, context: MarkContext): HtmlNode[] {
  if (node.type === 'text')
    return context.isCode || context.isLink ? [node] : markCitations(node.value ?? '', context);
  // Models use `<br>` to break lines in table cells. All other HTML is shown as text.
  if (node.type === 'raw' && /^<br ?\/?>$/i.test(node.value ?? '')) return [element('br', {}, [])];
  if (node.type !== 'element') return [node];
  if (node.tagName === 'img') return [imageLink(node, context)];
  const { id: _, ariaDescribedBy: __, ...properties } = node.properties ?? {};
  const isCode = context.isCode || node.tagName === 'code';
  const isLink = context.isLink || node.tagName === 'a';
  return [{ ...node, properties, children: markChildren(node, { ...context, isCode, isLink }) }];
}

function markCitations(text: string, { sourceCount }: MarkContext): HtmlNode[] {
  const nodes: HtmlNode[] = [];
  let from = 0;
  for (const match of text.matchAll(citation)) {
    const numbers = (match[1] as string).split(/[,;]/).map(Number);
    if (numbers.some((number) => number < 1 || number > sourceCount)) continue;
    if (match.index > from) nodes.push(textNode(text.slice(from, match.index)));
    nodes.push(
      ...numbers.map((number) =>
        element('button', { dataCitation: String(number) }, [textNode(`[${number}]`)]),
      ),
    );
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(textNode(text.slice(from)));
  return joinToWords(nodes);
}

/** Wraps a word, its citation and the punctuation after it in a span, so that no line breaks between them. */
function joinToWords(nodes: readonly HtmlNode[]): HtmlNode[] {
  const kept: HtmlNode[] = [];
  for (const node of nodes) {
    const before = kept.at(-1);
    if (node.tagName === 'button' && before?.tagName === 'span') before.children?.push(node);
    else if (node.tagName === 'button') kept.push(element('span', {}, [...takeLastWord(kept), node]));
    else if (before === undefined) kept.push(node);
    else {
      const stop = /^[.,;:!?)”’"]{0,3}/.exec(node.value ?? '')?.[0] ?? '';
      if (stop !== '') before.children?.push(textNode(stop));
      kept.push(textNode((node.value ?? '').slice(stop.length)));
    }
  }
  return kept.filter((node) => node.value !== '');
}

/** Removes the last word from the preceding text and returns it. A word that is too long to fit on a line stays. */
function takeLastWord(kept: HtmlNode[]): HtmlNode[] {
  const text = kept.pop()?.value ?? '';
  const word = /(?<!\S)\S{1,24} ?$/.exec(text)?.[0] ?? '';
  kept.push(textNode(text.slice(0, text.length - word.length)));
  return word === '' ? [] : [textNode(word)];
}

function imageLink({ properties = {} }: HtmlNode, { isLink }: MarkContext): HtmlNode {
  const alt = typeof properties.alt === 'string' ? properties.alt.trim() : '';
  const label = textNode(alt === '' ? 'Image' : `Image: ${alt}`);
  return isLink ? label : element('a', { href: properties.src }, [label]);
}

export function textNode(value: string): HtmlNode {
  return { type: 'text', value };
}

export function element(
  tagName: string,
  properties: Record<string, unknown>,
  children: HtmlNode[],
): HtmlNode {
  return { type: 'element', tagName, properties, children };
}
