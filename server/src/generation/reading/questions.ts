import type { Block } from './blocks.ts';

const questionLengthMax = 200;
/** Below every heading of a document. */
const questionLevel = 7;
const asked = /^(?:Q|Question)\s?\d{0,3}[.:)]\s+/;
/** Starts and ends with words, as commands and patterns with a question mark do not. */
const question = /^["“'‘(¿]?[\p{L}\p{N}].*[\p{L}\p{N}"”’')\].%] ?\?["”’')]{0,2}$/su;
const answered = /^(?:A|Answer)\s?\d{0,3}[.:)]\s+/;

/**
 * A short paragraph that asks and is followed by text becomes the heading of that text, so that a question and its answer
 * are one passage, and the question is never its own answer. Questions in a row share the answer.
 */
export function withQuestionHeadings(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  let open: Block | undefined;
  for (const [index, block] of blocks.entries()) {
    const question = questionIn(block, blocks[index - 1], blocks[index + 1]);
    const last = result.at(-1);
    if (question === undefined) {
      const isAnswer = last !== undefined && last === open && block.kind === 'paragraph';
      result.push(isAnswer ? { ...block, text: block.text.replace(answered, '') } : block);
    } else {
      const isShared =
        last !== undefined && last === open && last.text.length + question.length < questionLengthMax;
      if (last !== undefined && last === open) result.pop();
      open = {
        kind: 'heading',
        level: questionLevel,
        text: isShared ? `${last.text} ${question}` : question,
      };
      result.push(open);
    }
  }
  return result;
}

function questionIn(block: Block, before: Block | undefined, next: Block | undefined): string | undefined {
  const isFollowed = next !== undefined && next.kind !== 'heading' && next.kind !== 'term';
  const isItem = block.kind === 'item' && before?.kind !== 'item' && next?.kind !== 'item';
  if (!isFollowed || (block.kind !== 'paragraph' && !isItem)) return undefined;
  const isMarked = asked.test(block.text);
  if (!isMarked && block.text.length > questionLengthMax) return undefined;
  return isMarked || question.test(block.text) ? block.text.replace(asked, '') : undefined;
}
