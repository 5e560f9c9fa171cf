import type { ConversationTurn } from '../../port/model.ts';
import { splitSentences } from '../../reading/passage-parts.ts';
import { definitionAsked, extractConcepts } from '../../retrieval/question.ts';

/** A short prompt is read in full. Of a long one, only the questions at its end or else its beginning are read. */
const headLengthMax = 2_000;
const tailLengthMax = 1_000;
const partsMax = 3;

/** A question, and other text of the conversation that says what it is about, if there is any. */
export interface Question {
  readonly text: string;
  readonly context: string;
  /** If it is a follow-up: the replies since the question that it follows. */
  readonly earlierReplies?: string;
}

/** The questions of the latest prompt. */
export function findQuestions(conversation: readonly ConversationTurn[]): Question[] {
  const at = conversation.findLastIndex(({ role }) => role === 'user');
  const prompt = readable(conversation[at]?.content ?? '');
  const trimmedPrompt = prompt.replace(joint, '');
  // 'Tell me more' says nothing that a second 'Tell me more' could refer to.
  const previousAt = conversation.findLastIndex(
    ({ role, content }, place) =>
      place < at && role === 'user' && extractConcepts(readable(content)).length > 0,
  );
  if (previousAt >= 0 && isFollowUp(prompt)) {
    const replies = conversation.slice(previousAt).filter(({ role }) => role === 'assistant');
    const earlierReplies = replies.map(({ content }) => content).join('\n');
    const previous = readable(conversation[previousAt]!.content);
    // 'And a cake?' after 'What is a hank?' asks what a cake is.
    const isDefined =
      extractConcepts(trimmedPrompt).length > 0 &&
      [trimmedPrompt, previous].every((one) => definitionAsked.test(one));
    const question = isDefined ? { text: trimmedPrompt, context: '' } : { text: prompt, context: previous };
    return [{ ...question, earlierReplies }];
  }
  return splitQuestions(trimmedPrompt);
}

/** Words that connect a question to the previous one. */
const joint = /^(?:(?:and|but|or|so|also|then|well|ok(?:ay)?|(?:what|how) about)\b[\s,]*)+(?=.*\p{L})/iu;

function readable(prompt: string): string {
  if (prompt.length <= headLengthMax) return prompt.trim();
  const end = splitSentences(prompt.slice(-tailLengthMax)).filter((sentence) => sentence.endsWith('?'));
  return (end.length > 0 ? end.join(' ') : prompt.slice(0, headLengthMax)).toWellFormed().trim();
}

const goesOn = /^(?:and|but|or|also|what about|how about|what if|same for|in that case)\b/i;
const asksBriefly = /^(?:then|so|ok(?:ay)?|for|why|when|where|who|how)\b/i;
const pointsBack =
  /\b(?:it|its|they|them|their|that|this|those|these|there|one|ones|he|she|same|instead|too)\b/i;
const followUpConceptsMax = 3;

/** Whether it says too little to be understood without the question before. */
function isFollowUp(prompt: string): boolean {
  const { length } = extractConcepts(prompt);
  if (length === 0) return true;
  if (length > followUpConceptsMax || prompt.length > 100) return false;
  const isBrief = length === 1 && asksBriefly.test(prompt);
  return goesOn.test(prompt) || isBrief || (length <= 2 && pointsBack.test(prompt));
}

const nextQuestion =
  /(?<=\?)\s+|,?\s+and\s+(?=(?:also\s+)?(?:what|how|when|where|who|whom|whose|why|which|can|could|do|does|is|are|may|must|should|will)\b)/i;

/** Splits a prompt into its questions: 'What does it cost and how long does it take?' has two. */
function splitQuestions(prompt: string): Question[] {
  const sentences = splitSentences(prompt);
  const asking = sentences.filter((sentence) => sentence.endsWith('?'));
  const statements = sentences.filter((sentence) => !sentence.endsWith('?')).join(' ');
  const parts = asking
    .flatMap((sentence) => sentence.split(nextQuestion).map((text, at) => ({ text, isSentence: at === 0 })))
    .slice(0, partsMax);
  const [first, ...others] = parts;
  // 'Who founded it, and when?' asks for one sentence.
  const isOne = asking.length === 1 && parts.some(({ text }) => extractConcepts(text).length === 0);
  if (first === undefined || isOne) return [{ text: prompt, context: '' }];
  // The text around a single question says what the question is about.
  if (others.length === 0) return [{ text: first.text, context: statements }];
  return parts.map((part) => {
    const other = part === first ? others[0]! : first;
    const isClear =
      !pointsBack.test(part.text) && extractConcepts(part.text).length >= (part.isSentence ? 1 : 2);
    return { text: part.text, context: isClear ? '' : other.text };
  });
}
