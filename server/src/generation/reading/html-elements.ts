import { attribute, type Element } from './html-tree.ts';

const skipped = new Set(
  (
    'head script style noscript template nav svg canvas iframe object embed audio video map ' +
    'button select option input textarea datalist progress meter dialog menu'
  ).split(' '),
);

const inline = new Set(
  (
    'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math mi mn mo mrow ms mtext ' +
    'nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr'
  ).split(' '),
);

/** Whether an element holds nothing that a reader of the text would miss. */
export function isSkipped(element: Element): boolean {
  if (skipped.has(element.tagName) || attribute(element, 'hidden') !== undefined) return true;
  if (attribute(element, 'aria-hidden') === 'true') return true;
  return /^(?:navigation|search|menu|menubar)$/.test(attribute(element, 'role') ?? '');
}

/** Whether text runs on through an element. What is not known to be so stands by itself. */
export function isInline(element: Element): boolean {
  return inline.has(element.tagName);
}

export function headingLevel(element: Element): number | undefined {
  return /^h[1-6]$/.test(element.tagName) ? Number(element.tagName.charAt(1)) : undefined;
}
