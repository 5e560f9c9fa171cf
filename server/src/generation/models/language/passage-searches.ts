import type { FoundPassage } from '../../../domain/document.ts';
import { shortened } from '../../../domain/text.ts';
import { type DraftEvent, type PassageSearch, type ReplyRequest, searchStep } from '../../model.ts';
import { keepable } from './keepable-text.ts';
import { numberedPassage, questionIn } from './prompt.ts';

const passagesFirst = 8;
const passagesPerSearch = 5;
/** A model that searches more fills its context and might never answer. */
const searchesMax = 8;
const readingStepsMax = 3;
const queryLengthMax = 80;

export type PassageSearches = ReturnType<typeof passageSearches>;

/** The searches of one draft. Passages are numbered from 1 in the order in which the model receives them. */
export function passageSearches(
  library: PassageSearch,
  { organizationId, accountId, conversation, signal }: ReplyRequest,
  secret: string | undefined,
) {
  const passages: FoundPassage[] = [];
  const titlesRead = new Set<string>();
  let searches = 0;
  let pending: DraftEvent[] = [];

  const find = (question: string, limit: number) =>
    library.search(organizationId, accountId, question, limit, signal);
  const addStep = (description: string) => pending.push({ type: 'step', description });
  const shown = (text: string) => shortened(keepable(text, secret), queryLengthMax);

  function give(found: readonly FoundPassage[]): void {
    if (found.length === 0) return;
    const titles = new Set(found.map(({ title }) => title).filter((title) => !titlesRead.has(title)));
    for (const title of [...titles].slice(0, readingStepsMax)) {
      titlesRead.add(title);
      addStep(`Reading ${shown(title)}`);
    }
    passages.push(...found);
    pending.push({ type: 'passages', passages: found });
  }

  /** 0 if the model has not received the passage yet. */
  function numberOf({ documentId, heading, text }: FoundPassage): number {
    const isSame = (known: FoundPassage) =>
      known.documentId === documentId && known.heading === heading && known.text === text;
    return passages.findIndex(isSame) + 1;
  }

  return {
    passages: passages as readonly FoundPassage[],

    /** The events since the last call. */
    take(): DraftEvent[] {
      const events = pending;
      pending = [];
      return events;
    },

    /** Searches for the user's question. Resolves to whether there are documents. */
    async first(): Promise<boolean> {
      const { searched, passages: found } = await find(questionIn(conversation), passagesFirst);
      if (searched === 0) return false;
      addStep(searchStep(searched));
      give(found);
      return true;
    },

    /** Searches for the model's query. Resolves to the text that the model receives. */
    async further(query: string): Promise<string> {
      searches++;
      if (searches > searchesMax) return 'You have searched enough. Answer from the passages that you have.';
      addStep(`Searching the documents for “${shown(query)}”`);
      const { passages: found } = await find(query, passagesPerSearch);
      if (found.length === 0) return 'No passages were found.';
      give(found.filter((passage) => numberOf(passage) === 0));
      return found.map((passage) => numberedPassage(passage, numberOf(passage))).join('\n\n');
    },
  };
}
