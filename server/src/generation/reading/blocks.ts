import { UnreadableDocument } from '../../domain/document.ts';
import { type Limits, limits } from '../../domain/limits.ts';
import { cutText } from '../../domain/text.ts';

/** Every format is read into a flat sequence of blocks, in reading order. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  /** A name, such as an option, that the following blocks describe. An empty term ends the description. */
  | { readonly kind: 'term'; readonly text: string }
  | TextBlock;

/** A table is in Markdown and has at least one row, under a header whose cells may be empty. */
export type TextBlock =
  | { readonly kind: 'paragraph' | 'table' | 'code'; readonly text: string }
  /** The marker is `-` or a number: `3.` */
  | { readonly kind: 'item'; readonly marker: string; readonly text: string };

export interface Reading {
  readonly title?: string | undefined;
  /** As stated in the document. Only an HTTP URL is stored. */
  readonly url?: string | undefined;
  readonly blocks: readonly Block[];
}

export function evenSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
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

const headingLengthMax = limits.headingLengthMax.default;

type Heading = Extract<Block, { kind: 'heading' }>;

/** The blocks between one heading or term and the next. */
export interface Section {
  readonly heading: string;
  /** The name that it describes, such as an option; may be empty. */
  readonly term: string;
  readonly blocks: readonly TextBlock[];
}

/** A heading or term without text below it becomes text, so that its words can be found. */
export function* sectionsOf(document: readonly Block[], title: string): Generator<Section> {
  const blocks = withQuestionHeadings(document).flatMap(withShortHeading);
  const ownTitle = titleHeading(blocks, title);
  const above: Heading[] = [];
  let isBelowHeading = false;
  let term = '';
  let body: TextBlock[] = [];

  function* end(nextLevel: number): Generator<Section> {
    const path = [...above];
    if (body.length === 0) {
      const isBare = isBelowHeading && nextLevel <= above.at(-1)!.level;
      const lone = term !== '' ? term : isBare ? path.pop()!.text : '';
      if (lone !== '') body.push({ kind: 'paragraph', text: lone });
      term = '';
    }
    const headings = path.map(({ text }) => text).filter((text) => text !== '');
    if (body.length > 0) yield { heading: headings.join(' › '), term, blocks: body };
    body = [];
    term = '';
  }
  for (const block of blocks) {
    if (block.kind === 'term') {
      // Several terms may share one description.
      const isShared = body.length === 0 && term !== '' && block.text !== '';
      const shared = isShared && term.length < headingLengthMax ? `${term}, ` : '';
      if (shared === '' && (term !== '' || block.text !== '')) yield* end(Number.POSITIVE_INFINITY);
      if (block.text !== '') isBelowHeading = false;
      term = shared + block.text;
    } else if (block.kind === 'heading') {
      yield* end(block.level);
      while ((above.at(-1)?.level ?? 0) >= block.level) above.pop();
      above.push(block === ownTitle ? { ...block, text: '' } : block);
      isBelowHeading = true;
    } else body.push(block);
  }
  yield* end(0);
}

/** The heading that repeats the document's title, if it is the only one of the first level. */
function titleHeading(blocks: readonly Block[], title: string): Block | undefined {
  const outermost = blocks.filter((block) => block.kind === 'heading' && block.level === 1);
  const [only] = outermost;
  if (only === undefined || outermost.length > 1) return undefined;
  const [one, other] = [only.text.toLowerCase(), title.toLowerCase()];
  return one.includes(other) || other.includes(one) ? only : undefined;
}

/** A long heading or term, which is stored with each passage below it, is cut, and kept once in full as a paragraph. */
function withShortHeading(block: Block): Block[] {
  const isRepeated = block.kind === 'heading' || block.kind === 'term';
  const text = isRepeated ? cutText(block.text, headingLengthMax) : block.text;
  return text === block.text
    ? [block]
    : [
        { ...block, text },
        { kind: 'paragraph', text: block.text },
      ];
}

const questionLengthMax = 200;
/** Deeper than every heading level that a document can have. */
const questionLevel = 7;
const questionLabel = /^(?:Q|Question)\s?\d{0,3}[.:)]\s+/;
const answerLabel = /^(?:A|Answer)\s?\d{0,3}[.:)]\s+/;
/** Starts and ends with words, unlike a command or a pattern that ends with a question mark. */
const question = /^["“'‘(¿]?[\p{L}\p{N}].*[\p{L}\p{N}"”’')\].%] ?\?["”’')]{0,2}$/su;

/** Makes a heading of each question that text follows, so that both are one passage. Questions in a row share the answer. */
function withQuestionHeadings(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  let open: Block | undefined;
  let isDescription = false;
  for (const [index, block] of blocks.entries()) {
    if (block.kind === 'term' || block.kind === 'heading')
      isDescription = block.kind === 'term' && block.text !== '';
    const asked = isDescription ? undefined : questionIn(block, blocks[index - 1], blocks[index + 1]);
    const isBelow = open !== undefined && result.at(-1) === open;
    if (asked !== undefined) {
      if (isBelow) result.pop();
      open = { kind: 'heading', level: questionLevel, text: isBelow ? `${open!.text} ${asked}` : asked };
      result.push(open);
    } else if (isBelow && block.kind === 'paragraph')
      result.push({ ...block, text: block.text.replace(answerLabel, '') });
    else result.push(block);
  }
  return result;
}

function questionIn(block: Block, before: Block | undefined, next: Block | undefined): string | undefined {
  const isFollowed = next !== undefined && next.kind !== 'heading' && next.kind !== 'term';
  const isLoneItem = block.kind === 'item' && before?.kind !== 'item' && next?.kind !== 'item';
  if (!isFollowed || (block.kind !== 'paragraph' && !isLoneItem)) return undefined;
  if (questionLabel.test(block.text)) return block.text.replace(questionLabel, '');
  return block.text.length <= questionLengthMax && question.test(block.text) ? block.text : undefined;
}
