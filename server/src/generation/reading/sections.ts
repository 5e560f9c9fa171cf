import type { Block } from './blocks.ts';

export type TextBlock = Exclude<Block, { kind: 'heading' }>;

/** What stands between one heading and the next. */
export interface Section {
  /** The headings above it, from the outermost. */
  readonly heading: string;
  readonly blocks: readonly TextBlock[];
}

/** A heading that nothing follows is text by itself: otherwise nobody would find its words. */
export function sectionsOf(blocks: readonly Block[], title: string): Section[] {
  const ownTitle = titleHeading(blocks, title);
  const sections: Section[] = [];
  const above: { level: number; text: string }[] = [];
  let body: TextBlock[] = [];
  let last: { level: number; text: string } | undefined;

  const close = (nextLevel: number) => {
    const isLonely = last !== undefined && body.length === 0 && nextLevel <= last.level;
    const path = (isLonely ? above.slice(0, -1) : above)
      .map((heading) => heading.text)
      .filter((text) => text !== '');
    if (isLonely && last?.text) body.push({ kind: 'paragraph', text: last.text });
    if (body.length > 0) sections.push({ heading: path.join(' › '), blocks: body });
    body = [];
  };
  for (const block of blocks) {
    if (block.kind !== 'heading') {
      body.push(block);
      continue;
    }
    close(block.level);
    while ((above.at(-1)?.level ?? 0) >= block.level) above.pop();
    last = { level: block.level, text: block === ownTitle ? '' : block.text };
    above.push(last);
  }
  close(0);
  return sections;
}

/** The only heading of the first level, where it is what the document is called. */
function titleHeading(blocks: readonly Block[], title: string): Block | undefined {
  const outermost = blocks.filter((block) => block.kind === 'heading' && block.level === 1);
  const [only] = outermost;
  if (only === undefined || outermost.length > 1) return undefined;
  const [one, other] = [only.text.toLowerCase(), title.toLowerCase()];
  return one.includes(other) || other.includes(one) ? only : undefined;
}
