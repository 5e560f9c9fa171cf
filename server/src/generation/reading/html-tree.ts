import type { DefaultTreeAdapterTypes } from 'parse5';

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
export type Parent = DefaultTreeAdapterTypes.ParentNode;

const skipped = new Set(
  (
    'head script style noscript template nav svg canvas iframe object embed audio video map ' +
    'button select option input textarea datalist progress meter dialog menu'
  ).split(' '),
);

/** The elements below a node, in order. */
export function* elementsBelow(root: Parent): Generator<Element> {
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

/** Whether readers of the page do not see an element, or would not miss it in its text. */
export function isSkipped(element: Element): boolean {
  if (skipped.has(element.tagName) || attribute(element, 'hidden') !== undefined) return true;
  if (attribute(element, 'aria-hidden') === 'true') return true;
  return /^(?:navigation|search|menu|menubar)$/.test(attribute(element, 'role') ?? '');
}
