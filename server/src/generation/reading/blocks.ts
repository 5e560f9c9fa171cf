import { UnreadableDocument } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';

/** Every format is read into a flat sequence of blocks, in reading order. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  /** A name, such as an option, that the following blocks describe. An empty term ends the description. */
  | { readonly kind: 'term'; readonly text: string }
  /** A list item. The marker is `-` or a number: `3.` */
  | { readonly kind: 'item'; readonly marker: string; readonly text: string }
  /** A Markdown table with a header (whose cells may be empty) and at least one row. */
  | { readonly kind: 'table'; readonly text: string }
  /** Text whose line breaks and indentation are kept. */
  | { readonly kind: 'code'; readonly text: string };

export interface Reading {
  readonly title?: string | undefined;
  /** As stated in the document. Only an HTTP URL is stored. */
  readonly url?: string | undefined;
  readonly blocks: readonly Block[];
}

export function evenSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The marker of an item whose line starts like this: every bullet becomes `-`, and numbers are kept. */
export function listMarker(start: string): string {
  const number = /\d+/.exec(start)?.[0];
  return number === undefined ? '-' : `${number}.`;
}

export function checkTextLength(length: number, { documentLengthMax }: Limits): void {
  if (length <= documentLengthMax) return;
  const most = documentLengthMax.toLocaleString('en');
  throw new UnreadableDocument(`holds more than ${most} characters of text: split it`);
}

export function checkPassageCount(count: number, { documentPassagesMax }: Limits): void {
  if (count <= documentPassagesMax) return;
  const most = documentPassagesMax.toLocaleString('en');
  throw new UnreadableDocument(`has more than ${most} passages: split it`);
}
