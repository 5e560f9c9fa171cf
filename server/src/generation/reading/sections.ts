import { limits } from '../../domain/limits.ts';
import type { Block } from './blocks.ts';

const headingLengthMax = limits.headingLengthMax.default;

export type TextBlock = Exclude<Block, { kind: 'heading' | 'term' }>;

/** The blocks between one heading or term and the next. */
export interface Section {
  /** The headings above it, from the outermost. */
  readonly heading: string;
  /** The name that it describes, such as an option; may be empty. */
  readonly term: string;
  readonly blocks: readonly TextBlock[];
}

/** A heading or term without text below it becomes text, so that its words can be found. */
export function sectionsOf(blocks: readonly Block[], title: string): Section[] {
  const ownTitle = titleHeading(blocks, title);
  const sections: Section[] = [];
  const above: { level: number; text: string }[] = [];
  let body: TextBlock[] = [];
  let last: { level: number; text: string } | undefined;
  let term = '';

  const push = (path: readonly { text: string }[]) => {
    const heading = path.map(({ text }) => text).filter((text) => text !== '');
    if (body.length > 0) sections.push({ heading: heading.join(' › '), term, blocks: body });
    body = [];
    term = '';
  };
  const close = (nextLevel: number) => {
    if (term !== '' && body.length === 0) {
      body.push({ kind: 'paragraph', text: term });
      term = '';
    }
    const isBare = last !== undefined && body.length === 0 && nextLevel <= last.level;
    if (isBare && last?.text) body.push({ kind: 'paragraph', text: last.text });
    push(isBare ? above.slice(0, -1) : above);
  };
  for (const block of blocks) {
    if (block.kind === 'term') {
      if (block.text === '' && term === '') continue;
      // Several terms may share one description.
      const shared = body.length === 0 && term !== '' ? `${term}, ` : '';
      if (shared.length > headingLengthMax) body.push({ kind: 'paragraph', text: term });
      push(above);
      last = undefined;
      term = shared.length > headingLengthMax ? block.text : shared + block.text;
    } else if (block.kind === 'heading') {
      close(block.level);
      while ((above.at(-1)?.level ?? 0) >= block.level) above.pop();
      last = { level: block.level, text: block === ownTitle ? '' : block.text };
      above.push(last);
    } else body.push(block);
  }
  close(0);
  return sections;
}

/** The heading that repeats the document's title, if it is the only one of the first level. */
function titleHeading(blocks: readonly Block[], title: string): Block | undefined {
  const outermost = blocks.filter((block) => block.kind === 'heading' && block.level === 1);
  const [only] = outermost;
  if (only === undefined || outermost.length > 1) return undefined;
  const [one, other] = [only.text.toLowerCase(), title.toLowerCase()];
  return one.includes(other) || other.includes(one) ? only : undefined;
}
