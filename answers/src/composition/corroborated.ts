import { type Corroborate, corroborate } from '../corroboration/corroborate.ts';
import { asksNothing } from '../models/extractive/small-talk.ts';
import type { FoundPassage } from '../port/documents.ts';
import type { Drafter, Model, ReplyEvent, ReplyRequest } from '../port/model.ts';

/** Checks every statement of a draft against the passages it was drawn from, and cites those that support it. */
export function corroborated(drafter: Drafter, check: Corroborate = corroborate): Model {
  return {
    name: drafter.name,

    async *reply(request: ReplyRequest): AsyncGenerator<ReplyEvent> {
      const passages: FoundPassage[] = [];
      let draft = '';
      for await (const event of drafter.draft(request)) {
        if (event.type === 'text') draft += event.text;
        if (event.type === 'passages') passages.push(...event.passages);
        else yield event;
      }
      let isChecked = false;
      if (passages.length > 0) {
        yield { type: 'corroborating' };
        for await (const event of check(draft, passages, request.signal, request.organizationId)) {
          isChecked ||= event.type === 'verdict';
          yield event;
        }
      }
      // Nothing was found, or the reply states nothing: "The documents do not say." Code is no statement, either.
      const prompt = request.conversation.at(-1)?.content ?? '';
      if (!isChecked && !asksNothing(prompt) && !draft.includes('```')) yield { type: 'unanswered' };
    },
  };
}
