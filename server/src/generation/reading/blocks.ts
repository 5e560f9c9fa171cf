/** What every format is turned into: a flat sequence, in reading order. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  /** What the blocks behind it describe, such as an option: they are passages of their own. An empty one ends that. */
  | { readonly kind: 'term'; readonly text: string }
  /** One line of a list. */
  | { readonly kind: 'item'; readonly text: string }
  /** In Markdown, with a header (which may be empty) and at least one row. */
  | { readonly kind: 'table'; readonly text: string }
  /** Kept with its line breaks and indentation. */
  | { readonly kind: 'code'; readonly text: string };

/** What a reader found in a file. */
export interface Reading {
  /** Stated by the document itself, beside its text. */
  readonly title?: string | undefined;
  readonly url?: string | undefined;
  readonly blocks: readonly Block[];
}

/** The blocks of an item of a list: the paragraphs at its beginning are its line, the others follow by themselves. */
export function itemBlocks(blocks: readonly Block[]): Block[] {
  const firstOther = blocks.findIndex((block) => block.kind !== 'paragraph');
  const ownCount = firstOther < 0 ? blocks.length : firstOther;
  const text = evenSpaces(
    blocks
      .slice(0, ownCount)
      .map((block) => block.text)
      .join(' '),
  );
  return [...(text === '' ? [] : [{ kind: 'item' as const, text }]), ...blocks.slice(ownCount)];
}

/** Text on one line, without spaces at its ends. */
export function evenSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** An address that can be linked to, or `undefined`. */
export function webAddress(text: string | undefined): string | undefined {
  const address = text?.trim() ?? '';
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : undefined;
}
