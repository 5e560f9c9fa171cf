import type { DocumentOutline } from '../../port/documents.ts';
import { extractConcepts } from '../../retrieval/question.ts';

const about = 'I answer questions by quoting your organization’s documents.';

type Reply = string | ((outlines: readonly DocumentOutline[]) => string);

const replies: readonly (readonly [RegExp, Reply])[] = [
  [
    /^(?=.*\p{L})(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| skein)?[\s!.,]*)*(?:how are you(?: doing| today)?[\s?!.]*)?$/iu,
    `Hello! ${about} What would you like to know?`,
  ],
  [
    /^(?:ok(?:ay)?[\s,.!]+)?(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:a lot|so much|very much|again|for your help|for the help))?[\s!.]*$/i,
    'You’re welcome!',
  ],
  [/^(?:good ?bye|bye|see you|ciao)[\s!.]*$/i, 'Goodbye!'],
  [
    /^(?:so[\s,]+)?(?:who|what) are you[\s?!.]*$|^what (?:can|do|could) you (?:do|help|answer)(?: (?:me|us|for|with|about|here|today|questions?))*[\s?!.]*$|^(?:how )?can you help(?: me)?[\s?!.]*$|^help(?: me)?[\s?!.]*$|^what (?:can|could|should|may) i ask(?: you)?(?: about)?[\s?!.]*$|^what (?:do you know|are you for|documents do you (?:have|know))(?: about)?[\s?!.]*$|^what (?:is|are) (?:in )?(?:the|your|these) documents(?: about)?[\s?!.]*$/i,
    selfDescription,
  ],
];

const readLengthMax = 100;

/** The reply to a prompt that asks nothing about the documents. */
export function smallTalkReply(prompt: string): Reply | undefined {
  const text = prompt.trim();
  return text.length > readLengthMax ? undefined : replies.find(([pattern]) => pattern.test(text))?.[1];
}

/** Whether a prompt has no topic and is no question, such as 'Hello' or 'Tell me more': no document is missing. */
export function asksNothing(prompt: string): boolean {
  if (smallTalkReply(prompt) !== undefined) return true;
  // Linear in the prompt: language models call it on the event loop.
  const questionText = prompt.slice(0, prompt.lastIndexOf('?') + 1);
  return extractConcepts(prompt).length === 0 && !/\p{L}/u.test(questionText);
}

const titlesMax = 5;
const examplesMax = 3;

export const noDocuments =
  'There are no documents to answer from yet. Add some on the Documents page or with `skein doc add`, then ask again.';

function selfDescription(outlines: readonly DocumentOutline[]): string {
  if (outlines.length === 0) return noDocuments;
  const titles = outlines.slice(0, titlesMax).map(({ title }) => `“${title}”`);
  const more = outlines.length > titlesMax ? ' and others' : '';
  const known = `${about} They include ${titles.join(', ')}${more}.`;
  const examples = outlines.flatMap(({ questions }) => questions.slice(0, 1)).slice(0, examplesMax);
  if (examples.length === 0) return known;
  return `${known} For example, ask:\n\n${examples.map((example) => `- ${example}`).join('\n')}`;
}
