/** A node of HTML, as the Markdown library has it between reading and drawing. */
export interface HtmlNode {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: HtmlNode[];
}

interface Place {
  readonly sourceCount: number;
  readonly isCode: boolean;
  readonly isLink: boolean;
}

/** `[1]` and `[1, 3]`; not `list[1]`. */
const citation = /(?<![A-Za-z0-9_)])\[(\d{1,3}(?: {0,2}[,;] {0,2}\d{1,3})*)\]/g;

/**
 * Makes of a reply's HTML what the page draws: citations become buttons, images become links to them (nothing is loaded
 * from elsewhere), and ids go, which two replies could share.
 */
export function markReply({ sourceCount }: { sourceCount: number }): (tree: HtmlNode) => void {
  return (tree) => {
    tree.children = within(tree, { sourceCount, isCode: false, isLink: false });
  };
}

function within(node: HtmlNode, place: Place): HtmlNode[] {
  return (node.children ?? []).flatMap((child) => redrawn(child, place));
}

function redrawn(node: HtmlNode, place: Place): HtmlNode[] {
  if (node.type === 'text') return place.isCode || place.isLink ? [node] : cited(node.value ?? '', place);
  // Models break lines in the cells of tables with it. All other HTML is shown as the text it is.
  if (node.type === 'raw' && /^<br ?\/?>$/i.test(node.value ?? '')) return [element('br', {}, [])];
  if (node.type !== 'element') return [node];
  if (node.tagName === 'img') return [imageLink(node, place)];
  const { id: _, ariaDescribedBy: __, ...properties } = node.properties ?? {};
  const isCode = place.isCode || node.tagName === 'code';
  const isLink = place.isLink || node.tagName === 'a';
  return [{ ...node, properties, children: within(node, { ...place, isCode, isLink }) }];
}

function cited(text: string, { sourceCount }: Place): HtmlNode[] {
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
  return nodes;
}

function imageLink({ properties = {} }: HtmlNode, { isLink }: Place): HtmlNode {
  const alt = typeof properties.alt === 'string' ? properties.alt.trim() : '';
  const label = textNode(alt === '' ? 'Image' : `Image: ${alt}`);
  return isLink ? label : element('a', { href: properties.src }, [label]);
}

function textNode(value: string): HtmlNode {
  return { type: 'text', value };
}

function element(tagName: string, properties: Record<string, unknown>, children: HtmlNode[]): HtmlNode {
  return { type: 'element', tagName, properties, children };
}
