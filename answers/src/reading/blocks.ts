import { counted, cutText } from '../../../runtime/src/pure/text.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { UnreadableDocument } from './unreadable-document.ts';

/** Every format is read into a flat sequence of blocks, in reading order. */
export type Block = TextBlock | { readonly kind: 'heading'; readonly level: number; readonly text: string };

/** An item starts with `-` or its number. A table is in Markdown, with at least one row and a header, which may be empty. */
export interface TextBlock {
  readonly kind: 'paragraph' | 'item' | 'table' | 'code';
  readonly text: string;
}

export interface Reading {
  readonly title?: string | undefined;
  /** As stated in the document. Only an HTTP URL is stored. */
  readonly url?: string | undefined;
  readonly blocks: readonly Block[];
}

export function evenSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export function checkTextLength(length: number, { documentLengthMax: max }: ReadingLimits): void {
  if (length > max)
    throw new UnreadableDocument(`contains more than ${counted(max, 'character')} of text: split it`);
}

export function checkPassageCount(count: number, { documentPassagesMax: max }: ReadingLimits): void {
  if (count > max) throw new UnreadableDocument(`has more than ${counted(max, 'passage')}: split it`);
}

/** Deeper than every heading of a document: the level of a question that the text below it answers. */
const questionLevel = 100;
/** The level of a name, such as an option, that the text below it describes. An empty one ends the description. */
export const termLevel = 101;

/**
 * The text between each heading and the next. `term` is empty if the text describes none. A heading without text below it
 * becomes text, so that its words can be found. A long one, which is stored with each passage below it, is cut, and kept
 * once in full as text.
 */
export function* listSections(document: readonly Block[], title: string, headingLengthMax: number) {
  const parts = splitParts(document, headingLengthMax);
  hideTitle(parts, title, headingLengthMax);
  for (const [at, { above, label, blocks }] of parts.entries()) {
    const isBare = blocks.length === 0 && !parts[at + 1]?.above.includes(label);
    const shown = isBare ? '' : cutText(label.text, headingLengthMax);
    const text: TextBlock[] =
      shown === label.text ? blocks : [{ kind: 'paragraph', text: label.text }, ...blocks];
    if (text.length === 0) continue;
    const [own, term] = label.level === termLevel ? ['', shown] : [shown, ''];
    const headings = [...above.map((outer) => cutText(outer.text, headingLengthMax)), own];
    yield { heading: headings.filter((one) => one !== '').join(' › '), term, blocks: text };
  }
}

interface Label {
  readonly level: number;
  /** Empty if the text below it has no heading. */
  text: string;
}

type Part = ReturnType<typeof splitParts>[number];

/** The text below each label, with the headings above the label, outermost first. */
function splitParts(document: readonly Block[], headingLengthMax: number) {
  const start: Label = { level: 0, text: '' };
  const parts = [{ above: [] as Label[], label: start, blocks: [] as TextBlock[] }];
  for (const [at, block] of document.entries()) {
    const { above, label, blocks } = parts.at(-1)!;
    const isDescription = label.level === termLevel && label.text !== '';
    const read = isDescription ? block : withQuestion(block, document[at - 1], document[at + 1]);
    const isFirst = blocks.length === 0 && label.text !== '';
    if (read.kind !== 'heading') {
      const isAnswer = isFirst && label.level === questionLevel && read.kind === 'paragraph';
      blocks.push(isAnswer ? { ...read, text: read.text.replace(answerLabel, '') } : read);
    } else if (isFirst && read.text !== '' && canShare(label, read, headingLengthMax)) {
      label.text += `${read.level === termLevel ? ',' : ''} ${read.text}`;
    } else if (read.text !== '' || isDescription) {
      const outer = [...above, label].filter(({ level }) => level < read.level);
      parts.push({ above: outer, label: { level: read.level, text: read.text }, blocks: [] });
    }
  }
  return parts;
}

/** Questions in a row share the answer. Terms share the description as far as they fit into one label. */
function canShare(one: Label, other: Label, lengthMax: number): boolean {
  const fits = one.text.length + other.text.length <= lengthMax - 2;
  return one.level === other.level && (one.level === questionLevel || (one.level === termLevel && fits));
}

/** Removes the heading that repeats the document's title, if it is short and the only one of the first level. */
function hideTitle(parts: readonly Part[], title: string, lengthMax: number): void {
  const [only, another] = parts.flatMap(({ label }) => (label.level === 1 ? [label] : []));
  if (only === undefined || another !== undefined || only.text.length > lengthMax) return;
  const [one, other] = [only.text.toLowerCase(), title.toLowerCase()];
  if (one.includes(other) || other.includes(one)) only.text = '';
}

export const questionLengthMax = 200;
const questionLabel = /^(?:Q|Question)\s?\d{0,3}[.:)]\s+/;
const answerLabel = /^(?:A|Answer)\s?\d{0,3}[.:)]\s+/;
/** Starts and ends with words, unlike a command or a pattern that ends with a question mark. */
const question = /^["“'‘(¿]?[\p{L}\p{N}].*[\p{L}\p{N}"”’')\].%] ?\?["”’')]{0,2}$/su;

/** Makes a heading of a question that text follows, so that both are one passage. */
function withQuestion(block: Block, before: Block | undefined, next: Block | undefined): Block {
  const isLoneItem = block.kind === 'item' && before?.kind !== 'item' && next?.kind !== 'item';
  if ((block.kind !== 'paragraph' && !isLoneItem) || (next?.kind ?? 'heading') === 'heading') return block;
  const own = isLoneItem ? block.text.replace(/^\S+ /, '') : block.text;
  const text = own.replace(questionLabel, '');
  const isQuestion = text !== own || (text.length <= questionLengthMax && question.test(text));
  return isQuestion ? { kind: 'heading', level: questionLevel, text } : block;
}
