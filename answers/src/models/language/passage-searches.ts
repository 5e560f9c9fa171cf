import { isDeepStrictEqual } from 'node:util';
import { shortened } from '../../../../runtime/src/pure/text.ts';
import type { FoundPassage } from '../../port/documents.ts';
import { type DraftEvent, type PassageSearch, type ReplyRequest, searchStep } from '../../port/model.ts';
import { numberedPassage, questionIn } from './prompt.ts';
import { storable } from './text-streams.ts';

const passagesFirst = 8;
const passagesPerSearch = 5;
/** A model that searches more fills its context and might never answer. */
const searchesMax = 8;
const readingStepsMax = 3;
const queryLengthMax = 80;

export type PassageSearches = ReturnType<typeof passageSearches>;

/** The searches of one draft. Passages are numbered from 1 in the order in which the model receives them. */
export function passageSearches(library: PassageSearch, request: ReplyRequest, secret: string | undefined) {
  const { organizationId, accountId, conversation, signal } = request;
  const passages: FoundPassage[] = [];
  let searches = 0;

  const find = (question: string, limit: number) =>
    library.search(organizationId, accountId, question, limit, signal);

  const shown = (text: string) => shortened(storable(text, secret), queryLengthMax);

  /** 0 if the model has not received the passage yet. */
  const findNumber = (passage: FoundPassage) =>
    passages.findIndex((known) => isDeepStrictEqual(known, passage)) + 1;

  function* give(found: readonly FoundPassage[]): Generator<DraftEvent> {
    if (found.length === 0) return;
    const isKnown = (title: string) => passages.some((passage) => passage.title === title);
    const unread = found.map(({ title }) => title).filter((title) => !isKnown(title));
    for (const title of [...new Set(unread)].slice(0, readingStepsMax)) {
      yield { type: 'step', description: `Reading ${shown(title)}` };
    }
    passages.push(...found);
    yield { type: 'passages', passages: found };
  }

  return {
    passages,

    /** Searches for the user's question. Returns whether there are documents. */
    async *first(): AsyncGenerator<DraftEvent, boolean> {
      const found = await find(questionIn(conversation), passagesFirst);
      if (found.searched === 0) return false;
      yield { type: 'step', description: searchStep(found.searched) };
      yield* give(found.passages);
      return true;
    },

    /** Searches for the model's query. Returns the text that the model receives. */
    async *further(query: string): AsyncGenerator<DraftEvent, string> {
      searches++;
      if (searches > searchesMax) return 'You have searched enough. Answer from the passages that you have.';
      yield { type: 'step', description: `Searching the documents for “${shown(query)}”` };
      const found = await find(query, passagesPerSearch);
      if (found.passages.length === 0) return 'No passages were found.';
      yield* give(found.passages.filter((passage) => findNumber(passage) === 0));
      return found.passages.map((passage) => numberedPassage(passage, findNumber(passage))).join('\n\n');
    },
  };
}
