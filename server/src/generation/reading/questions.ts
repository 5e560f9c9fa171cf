import type { Block } from './blocks.ts';

const questionLengthMax = 200;
/** Below every heading of a document. */
const questionLevel = 7;
const questionLabel = /^(?:Q|Question)\s?\d{0,3}[.:)]\s+/;
const answerLabel = /^(?:A|Answer)\s?\d{0,3}[.:)]\s+/;
/** Starts and ends with words, unlike a command or a pattern that ends with a question mark. */
const question = /^["“'‘(¿]?[\p{L}\p{N}].*[\p{L}\p{N}"”’')\].%] ?\?["”’')]{0,2}$/su;

/**
 * Makes a heading of each short paragraph that asks a question and is followed by text, so that question and answer are
 * one passage. Consecutive questions share the answer.
 */
export function withQuestionHeadings(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  let open: Block | undefined;
  for (const [index, block] of blocks.entries()) {
    const asked = questionIn(block, blocks[index - 1], blocks[index + 1]);
    const last = result.at(-1);
    const above = last === open ? last : undefined;
    if (asked === undefined) {
      const isAnswer = above !== undefined && block.kind === 'paragraph';
      result.push(isAnswer ? { ...block, text: block.text.replace(answerLabel, '') } : block);
      continue;
    }
    if (above !== undefined) result.pop();
    const isShared = above !== undefined && above.text.length + asked.length < questionLengthMax;
    open = { kind: 'heading', level: questionLevel, text: isShared ? `${above.text} ${asked}` : asked };
    result.push(open);
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
