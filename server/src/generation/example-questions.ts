import type { DocumentHeadings } from '../domain/document.ts';
import type { Model, ReplyRequest } from './model.ts';
import { suggestedQuestions } from './models/extractive/small-talk.ts';

const questionsMax = 2;
const triesMax = 6;
const questionLengthMax = 90;

/** Suggests questions by a document's headings and keeps those that the model answers from the document. */
export function answeredQuestions(model: Model) {
  return async (document: DocumentHeadings, signal: AbortSignal): Promise<string[]> => {
    const { organizationId, accountId, id, title, headings } = document;
    const outlines = (headings.length > 0 ? headings : [title]).map((heading) => {
      return { title, headings: [heading], opening: '' };
    });
    const candidates = suggestedQuestions(outlines).filter(({ length }) => length <= questionLengthMax);
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
