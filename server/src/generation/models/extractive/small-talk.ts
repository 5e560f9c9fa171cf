import type { DocumentOutline } from '../../../domain/document.ts';
import { conceptsOf } from '../../retrieval/question.ts';
import { listing } from '../../retrieval/ranking.ts';

const about = 'I answer questions by quoting your organization’s documents.';

const replies: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| skein)?[\s!.,]*)+(?:how are you(?: doing| today)?[\s?!.]*)?$/i,
    `Hello! ${about} What would you like to know?`,
  ],
  [
    /^(?:ok(?:ay)?[\s,.!]+)?(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:a lot|so much|very much|again|for your help|for the help))?[\s!.]*$/i,
    'You’re welcome!',
  ],
  [/^how are you(?: doing| today)?[\s?!.]*$/i, `I’m fine, thanks. ${about} What would you like to know?`],
  [/^(?:good ?bye|bye|see you|ciao)[\s!.]*$/i, 'Goodbye!'],
];

const aboutItself =
  /^(?:so[\s,]+)?(?:who|what) are you[\s?!.]*$|^what (?:can|do|could) you (?:do|help|answer)\b.{0,30}$|^(?:how )?can you help(?: me)?[\s?!.]*$|^help(?: me)?[\s?!.]*$|^what (?:can|could|should|may) i ask(?: you)?(?: about)?[\s?!.]*$|^what (?:do you know|are you for|documents do you (?:have|know))(?: about)?[\s?!.]*$|^what (?:is|are) (?:in )?(?:the|your|these) documents(?: about)?[\s?!.]*$/i;

const readLengthMax = 100;

/** The reply to a prompt that asks nothing about the documents. */
export function smallTalkReply(prompt: string): string | undefined {
  const text = prompt.trim();
  return text.length > readLengthMax ? undefined : replies.find(([pattern]) => pattern.test(text))?.[1];
}

/** Whether a prompt has no topic and is no question, such as 'Hello' or 'Tell me more': no document is missing. */
export function asksNothing(prompt: string): boolean {
  if (smallTalkReply(prompt) !== undefined) return true;
  // Linear in the prompt: language models call it on the event loop.
  const asked = prompt.slice(0, prompt.lastIndexOf('?') + 1);
  return conceptsOf(prompt).length === 0 && !/\p{L}/u.test(asked);
}

export function asksAboutItself(prompt: string): boolean {
  const text = prompt.trim();
  return text.length <= readLengthMax && aboutItself.test(text);
}

const titlesMax = 5;

/** `examples` are questions that the documents answer. */
export function selfDescription(outlines: readonly DocumentOutline[], examples: readonly string[]): string {
  const titles = outlines.slice(0, titlesMax).map(({ title }) => `“${title}”`);
  const more = outlines.length > titlesMax ? ' and others' : '';
  const known = `${about} They include ${titles.join(', ')}${more}.`;
  if (examples.length === 0) return known;
  return `${known} For example, ask:\n\n${examples.map((example) => `- ${example}`).join('\n')}`;
}

/**
 * One question per document, suggested by its headings. Headings that are questions come first. Headings of
 * lists and those below them, such as 'SYNOPSIS › Usage', suggest no question.
 */
export function suggestedQuestions(outlines: readonly DocumentOutline[]): string[] {
  const headings = outlines.map((outline) =>
    outline.headings
      .map((heading) => heading.split(' › '))
      .filter((path) => !path.some((heading) => listing.test(heading)))
      .map((path) => path.at(-1)!),
  );
  const asked = headings.map((all) => all.find((heading) => heading.endsWith('?')));
  const derived = headings.map((all, at) =>
    asked[at] === undefined ? all.map(questionAbout).find((one) => one !== undefined) : undefined,
  );
  return [...asked, ...derived].filter((question) => question !== undefined);
}

/** Undefined for a clause, such as 'When the money arrives', which cannot be turned into a question by a pattern. */
function questionAbout(heading: string): string | undefined {
  const task = /^How to (.+)$/.exec(heading)?.[1];
  if (task !== undefined) return `How do I ${task}?`;
  if (/^\p{Lu}\p{Ll}+ing (?:up )?(?:a|an|the|your|our) /u.test(heading))
    return `How does ${asNoun(heading)} work?`;
  if (/^(?:how|when|where|what|which|who|why|if)\b/i.test(heading)) return undefined;
  // Probably the name of a file: 'about cat' is not English.
  if (/^\p{Ll}+$/u.test(heading)) return undefined;
  return `What should I know about ${asNoun(heading)}?`;
}

/** 'Opening hours' within a sentence; a name such as 'First Stitches' keeps its capital. */
function asNoun(heading: string): string {
  return /^\p{Lu}\p{Ll}+(?: \p{Ll}.*)?$/u.test(heading)
    ? heading.charAt(0).toLowerCase() + heading.slice(1)
    : heading;
}
