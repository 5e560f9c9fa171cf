import type { DocumentHeadings } from '../port/documents.ts';
import type { Model, ReplyRequest } from '../port/model.ts';

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
  const events = await Array.fromAsync(model.reply(request));
  const sources = events.flatMap((event) => (event.type === 'sources' ? event.sources : []));
  return events.some(({ type }) => type === 'corroborating') && sources.some(({ id }) => id === documentId);
}

/** Matches a heading above a list, such as a synopsis or a changelog, rather than an explanation. */
const listing =
  /(?:^| › )(?:synopsis|(?:table of )?contents|see also|change ?log|release notes|history|links|navigation|index|\[?v?\d+\.\d+\S*(?: +[\d(/–—-].*)?)$/i;

/** Headings of lists and those below them, such as 'SYNOPSIS › Usage', suggest no question. */
function suggestedQuestions(headings: readonly string[]): string[] {
  const topics = headings
    .map((heading) => heading.split(' › '))
    .filter((path) => !path.some((heading) => listing.test(heading)))
    .map((path) => path.at(-1)!);
  const { asked = [], named = [] } = Object.groupBy(topics, (one) => (one.endsWith('?') ? 'asked' : 'named'));
  return [...new Set([...asked, ...named.map(questionAbout)])];
}

/** A heading may be a name, a command or part of a sentence, so it is quoted. */
function questionAbout(heading: string): string {
  const task = /^How to (.+)$/.exec(heading)?.[1];
  return task === undefined ? `Tell me about “${heading}”` : `How do I ${task}?`;
}
