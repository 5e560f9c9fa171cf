import { element, type HtmlNode, textNode } from './reply-marks.ts';

/** A part of a reply's Markdown: from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface UnsupportedOptions {
  readonly source: string;
  /** Sorted and without overlaps. */
  readonly spans: readonly Span[];
}

/** A part of a text node: from `from` up to `to`. `isLast`: no other part of the statement follows. */
interface Fragment {
  readonly span: Span;
  readonly from: number;
  readonly to: number;
  isLast: boolean;
}

/**
 * Wraps each statement in `mark` and adds a button after it that explains the mark. A statement can start and end
 * inside emphasis, a link or a table cell, so every text node gets its own marks. Code blocks get none.
 */
export function markUnsupported({ source, spans }: UnsupportedOptions): (tree: HtmlNode) => void {
  return (tree) => {
    if (spans.length === 0) return;
    const fragments = splitFragments(textNodes(tree), source, spans);
    tree.children = rebuilt(tree, fragments).nodes;
  };
}

function textNodes(node: HtmlNode): HtmlNode[] {
  if (node.tagName === 'pre') return [];
  if (node.type === 'text') return node.value?.trim() ? [node] : [];
  return (node.children ?? []).flatMap(textNodes);
}

function splitFragments(nodes: readonly HtmlNode[], source: string, spans: readonly Span[]) {
  const fragments = new Map<HtmlNode, Fragment[]>();
  const last = new Map<Span, Fragment>();
  let next = 0;
  let cursor = 0;
  for (const node of nodes) {
    const places = findPlaces(node, source, cursor);
    if (places.length === 0) continue;
    cursor = places.at(-1)! + 1;
    while (next < spans.length && spans[next]!.end <= places[0]!) next += 1;
    for (let at = next; at < spans.length && spans[at]!.start < cursor; at += 1) {
      const fragment = fragmentIn(node.value!, places, spans[at]!);
      if (fragment === undefined) continue;
      fragments.set(node, [...(fragments.get(node) ?? []), fragment]);
      last.set(fragment.span, fragment);
    }
  }
  for (const fragment of last.values()) fragment.isLast = true;
  return fragments;
}

function fragmentIn(value: string, places: readonly number[], span: Span): Fragment | undefined {
  const [from, to] = [indexFrom(places, span.start), indexFrom(places, span.end)];
  return value.slice(from, to).trim() === '' ? undefined : { span, from, to, isLast: false };
}

/** A binary search: a text of 200,000 characters may have a thousand statements at its end. */
function indexFrom(places: readonly number[], place: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The source offset of each character of a text node; empty if unknown. */
function findPlaces({ value = '', position }: HtmlNode, source: string, cursor: number): number[] {
  // Nodes created by a plugin, such as those around a bare link, have no position.
  const start = position?.start.offset ?? source.indexOf(value, cursor);
  if (start < 0) return [];
  const end = position?.end.offset ?? start + value.length;
  const places: number[] = [];
  let at = start;
  for (let index = 0; index < value.length; index += 1) {
    // The source also contains Markdown syntax: escapes, and the markers at the start of quoted lines.
    const reference = /^&(?:#\w{1,8}|\w{1,32});/.exec(source.slice(at, at + 40))?.[0];
    if (reference !== undefined && !value.startsWith(reference, index)) {
      places.push(at);
      at += reference.length;
      continue;
    }
    while (at < end && source[at] !== value[index]) at += 1;
    if (at >= end) return [];
    places.push(at);
    at += 1;
  }
  return places;
}

/** Buttons cannot be inside a link or code, so `flags` are the buttons that belong after the node. */
function rebuilt(node: HtmlNode, fragments: ReadonlyMap<HtmlNode, Fragment[]>): Rebuilt {
  const nodes: HtmlNode[] = [];
  const flags: HtmlNode[] = [];
  const flagsAt = node.tagName === 'a' || node.tagName === 'code' ? flags : nodes;
  for (const child of node.children ?? []) {
    const own = fragments.get(child);
    if (own !== undefined) {
      for (const one of markedText(child.value!, own)) (one.tagName === 'button' ? flagsAt : nodes).push(one);
    } else if (child.children === undefined) nodes.push(child);
    else {
      const inner = rebuilt(child, fragments);
      nodes.push({ ...child, children: inner.nodes });
      flagsAt.push(...inner.flags);
    }
  }
  return { nodes, flags };
}

interface Rebuilt {
  readonly nodes: HtmlNode[];
  readonly flags: HtmlNode[];
}

function markedText(value: string, fragments: readonly Fragment[]): HtmlNode[] {
  const nodes: HtmlNode[] = [];
  let at = 0;
  for (const { from, to, isLast } of fragments) {
    nodes.push(textNode(value.slice(at, from)), element('mark', {}, [textNode(value.slice(from, to))]));
    if (isLast) nodes.push(element('button', { dataUnsupported: '' }, []));
    at = to;
  }
  nodes.push(textNode(value.slice(at)));
  return nodes.filter((node) => node.value !== '');
}
