import type { DocumentHeadings } from '../domain/document.ts';
import type { Model, ReplyRequest } from './model.ts';
import { listing } from './retrieval/ranking.ts';

const questionsMax = 2;
const triesMax = 6;
const questionLengthMax = 90;

/** Suggests questions by a document's headings and keeps those that the model answers from the document. */
export function answeredQuestions(model: Model) {
  return async (document: DocumentHeadings, signal: AbortSignal): Promise<string[]> => {
    const { organizationId, accountId, id, title, headings } = document;
    const suggested = suggestedQuestions(headings.length > 0 ? headings : [title]);
    const candidates = suggested.filter(({ length }) => length <= questionLengthMax);
    const questions: string[] = [];
    for (const content of candidates.slice(0, triesMax)) {
      if (questions.length === questionsMax) break;
      const conversation = [{ role: 'user', content } as const];
      const request = { organizationId, accountId, conversation, attempt: 1, signal };
      if (await isAnsweredFrom(id, model, request)) questions.push(content);
    }
    return questions;
  };
}

/** A reply that only lists the closest passages is not corroborated. */
async function isAnsweredFrom(documentId: string, model: Model, request: ReplyRequest): Promise<boolean> {
  let isAnswer = false;
  let isFrom = false;
  for await (const event of model.reply(request)) {
    if (event.type === 'corroborating') isAnswer = true;
    if (event.type === 'sources') isFrom = event.sources.some(({ id }) => id === documentId);
  }
  return isAnswer && isFrom;
}

/** Headings of lists and those below them, such as 'SYNOPSIS › Usage', suggest no question. */
function suggestedQuestions(headings: readonly string[]): string[] {
  const topics = headings
    .map((heading) => heading.split(' › '))
    .filter((path) => !path.some((heading) => listing.test(heading)))
    .map((path) => path.at(-1)!);
  const asked = topics.filter((topic) => topic.endsWith('?'));
  const derived = topics.flatMap((topic) => (topic.endsWith('?') ? [] : (questionAbout(topic) ?? [])));
  return [...new Set([...asked, ...derived])];
}

/** A phrase such as 'When the money arrives' or 'For teachers'. No pattern turns it into a question. */
const phrase =
  /^(?:about|after|as|at|before|behind|beyond|by|during|for|from|how|if|in|inside|is|on|over|to|under|what|when|where|which|who|why|with|without)\b(?!-)/i;
/**
 * 'Request a feature', 'Install Node.js': a word before an article, except 'Buying' or 'All', or a verb that is never a noun.
 * 'GET /threads' and 'Add-ons' do not start with a verb.
 */
const command =
  /^(?:(?!\p{L}+ing |All |Both |Half |Once |Twice )\p{Lu}\p{Ll}+ (?:an?|the|your)|Add|Choose|Configure|Create|Delete|Get|Install|Remove|Send|Write)(?= )/u;

function questionAbout(heading: string): string | undefined {
  const task = /^How to (.+)$/.exec(heading)?.[1];
  if (task !== undefined) return `How do I ${task}?`;
  // A single lower-case word is probably the name of a file: 'about cat' is not English.
  if (phrase.test(heading) || /^\p{Ll}+$/u.test(heading)) return undefined;
  if (command.test(heading)) return `How do I ${heading.charAt(0).toLowerCase()}${heading.slice(1)}?`;
  return `Tell me about ${asNoun(heading)}`;
}

/** 'Opening hours' within a sentence; a name such as 'First Stitches' keeps its capital. */
function asNoun(heading: string): string {
  return /^(?:The |\p{Lu}\p{Ll}+,?(?: \p{Ll}.*)?$)/u.test(heading)
    ? heading.charAt(0).toLowerCase() + heading.slice(1)
    : heading;
}
