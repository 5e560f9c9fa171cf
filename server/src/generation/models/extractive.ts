import { setImmediate as turn } from 'node:timers/promises';
import type { FoundPassage } from '../../domain/document.ts';
import type { DraftEvent, Drafter, ReplyRequest } from '../model.ts';
import type { SearchLibrary } from '../retrieval/library.ts';
import { questionsOf } from './extractive/asking.ts';
import { compose } from './extractive/composition.ts';
import { isAnswered } from './extractive/confidence.ts';
import { type Selection, selectUnits } from './extractive/selection.ts';
import { smallTalkReply } from './extractive/small-talk.ts';

/** How many passages a question's sentences are chosen from. */
const passagesMax = 6;
const documentsNamedMax = 3;

/** Answers with sentences of the organization's documents, and says so when they hold none. It needs no network. */
export function extractiveModel(library: Pick<SearchLibrary, 'search'>): Drafter {
  return {
    name: 'extractive',

    async *draft(request: ReplyRequest): AsyncGenerator<DraftEvent> {
      const { organizationId, accountId, conversation, signal } = request;
      const reply = smallTalkReply(conversation.at(-1)?.content ?? '');
      if (reply !== undefined) {
        yield { type: 'text', text: reply };
        return;
      }
      const selections: Selection[] = [];
      const near: FoundPassage[] = [];
      let searched: number | undefined;
      for (const question of questionsOf(conversation)) {
        const findings = await library.search(organizationId, accountId, question, passagesMax);
        signal.throwIfAborted();
        if (searched === undefined) yield { type: 'step', description: searching(findings.searched) };
        searched = findings.searched;
        near.push(...findings.passages.slice(0, 2));
        if (isAnswered(findings, question))
          selections.push(...selectUnits(findings.question, findings.passages));
        await turn();
      }
      if (selections.length === 0) yield { type: 'text', text: notFound(searched ?? 0, near) };
      else yield* answer(selections);
    },
  };
}

async function* answer(selections: readonly Selection[]): AsyncGenerator<DraftEvent> {
  const merged = mergedByPassage(selections);
  const titles = [...new Set(merged.map(({ passage }) => passage.title))];
  for (const title of titles.slice(0, documentsNamedMax)) {
    yield { type: 'step', description: `Reading ${title}` };
  }
  yield { type: 'step', description: 'Choosing the sentences that answer' };
  yield { type: 'passages', passages: merged.map(({ passage }) => passage) };
  for (const [at, selection] of merged.entries()) {
    for (const [piece, text] of compose(selection, at + 1).entries()) {
      yield { type: 'text', text: at > 0 && piece === 0 ? `\n\n${text}` : text };
    }
    await turn();
  }
}

/** Two parts of a question may be answered by the same passage. */
function mergedByPassage(selections: readonly Selection[]): Selection[] {
  const merged = new Map<string, Selection>();
  for (const selection of selections) {
    const key = `${selection.passage.documentId}\n${selection.passage.text}`;
    const told = new Set([...(merged.get(key)?.told ?? []), ...selection.told]);
    merged.set(key, { ...selection, told: [...told] });
  }
  return [...merged.values()];
}

function searching(passages: number): string {
  if (passages === 0) return 'Looking for documents';
  return passages === 1 ? 'Searching 1 passage' : `Searching ${passages.toLocaleString('en')} passages`;
}

function notFound(searched: number, near: readonly FoundPassage[]): string {
  if (searched === 0) {
    return 'There are no documents to answer from yet. They are added with `skein doc add`; then ask again.';
  }
  const titles = [...new Set(near.map(({ title }) => `“${title}”`))].slice(0, 2);
  if (titles.length === 0) return 'The documents do not answer this.';
  const closest = titles.length === 1 ? 'The closest document is' : 'The closest documents are';
  return `The documents do not answer this. ${closest} ${titles.join(' and ')}.`;
}
