import { type DefaultTreeAdapterTypes, html } from 'parse5';

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

/** What a walk is told. `enter` answers whether to go inside. */
export interface Visitor {
  enter(element: Element): boolean;
  leave(element: Element): void;
  text(value: string): void;
}

/** Visits everything below a node in order. No recursion: a page may be nested deeper than the stack is. */
export function walk(root: Parent, visitor: Visitor): void {
  const open: { parent: Parent; next: number }[] = [{ parent: root, next: 0 }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const node = top.parent.childNodes[top.next];
    top.next += 1;
    if (node === undefined) {
      open.pop();
      if (isElement(top.parent) && top.parent !== root) visitor.leave(top.parent);
    } else if (isText(node)) {
      visitor.text(node.value);
    } else if (isElement(node) && visitor.enter(node)) {
      open.push({ parent: node, next: 0 });
    }
  }
}

/** The first element below a node, in order, that fits. */
export function findElement(root: Parent, fits: (element: Element) => boolean): Element | undefined {
  let found: Element | undefined;
  walk(root, {
    enter(element) {
      if (found === undefined && fits(element)) found = element;
      return found === undefined;
    },
    leave() {},
    text() {},
  });
  return found;
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((candidate) => candidate.name === name)?.value;
}

function isElement(node: Node | Parent): node is Element {
  return 'tagName' in node && (node.namespaceURI === html.NS.HTML || node.namespaceURI === html.NS.MATHML);
}

function isText(node: Node): node is DefaultTreeAdapterTypes.TextNode {
  return node.nodeName === '#text';
}
