import { setImmediate as turn } from 'node:timers/promises';
import type { FoundPassage } from '../../domain/document.ts';
import { shortened } from '../corroboration/snippet.ts';
import type { DraftEvent, Drafter, ReplyRequest } from '../model.ts';
import type { SearchLibrary } from '../retrieval/library.ts';
import type { SearchFindings } from '../retrieval/search.ts';
import { questionsOf } from './extractive/asking.ts';
import { compose } from './extractive/composition.ts';
import { groundsBesides, groundsOf, isNear } from './extractive/confidence.ts';
import { type Selection, selectUnits } from './extractive/selection.ts';
import { smallTalkReply } from './extractive/small-talk.ts';
import { isGeneral, unknownNamesOf, withGeneralOnly, withoutNames } from './extractive/unknown-names.ts';

/** How many passages a question's sentences are chosen from. */
const passagesMax = 6;
const documentsNamedMax = 3;
const documentsNearMax = 2;
const unmentionedMax = 3;
const questionLengthMax = 120;

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
      const search = (text: string) => library.search(organizationId, accountId, text, passagesMax, signal);
      const answers: Answer[] = [];
      const near: FoundPassage[] = [];
      let searched: number | undefined;
      for (const question of questionsOf(conversation)) {
        const findings = await search(question);
        signal.throwIfAborted();
        if (searched === undefined) yield { type: 'step', description: searching(findings.searched) };
        searched = findings.searched;
        near.push(...nearestOf(findings));
        answers.push(await answerTo(question, findings, search));
        await turn();
      }
      if (answers.every(({ selections }) => selections.length === 0)) {
        yield { type: 'text', text: notFound(searched ?? 0, near) };
      } else yield* told(answers);
    },
  };
}

/** To one `question`. Of what is `unmentioned` the documents say nothing; then the selections are what comes closest. */
interface Answer {
  readonly question: string;
  readonly selections: readonly Selection[];
  readonly unmentioned: readonly string[];
}

async function answerTo(
  text: string,
  findings: SearchFindings,
  search: (text: string) => Promise<SearchFindings>,
): Promise<Answer> {
  const names = unknownNamesOf(findings, text);
  if (names.length === 0) {
    const selections = selectUnits(findings.question, groundsOf(findings));
    return { question: text, selections, unmentioned: [] };
  }
  const rest = await search(withoutNames(text, names));
  const selections = selectUnits(rest.question, groundsBesides(names, rest), isGeneral).map(withGeneralOnly);
  return { question: text, selections, unmentioned: names.map(({ full }) => full) };
}

function nearestOf({ question, passages }: SearchFindings): FoundPassage[] {
  return passages.slice(0, documentsNearMax).filter((passage) => isNear(question, passage));
}

async function* told(answers: readonly Answer[]): AsyncGenerator<DraftEvent> {
  const full = mergedByPassage(
    answers.filter(({ unmentioned }) => unmentioned.length === 0).flatMap(({ selections }) => selections),
  );
  const merged = mergedByPassage([...full, ...answers.flatMap(({ selections }) => selections)]);
  const titles = [...new Set(merged.map(({ passage }) => passage.title))];
  for (const title of titles.slice(0, documentsNamedMax)) {
    yield { type: 'step', description: `Reading ${title}` };
  }
  yield { type: 'step', description: 'Choosing the sentences that answer' };
  yield { type: 'passages', passages: merged.map(({ passage }) => passage) };
  const paragraphs = merged.map((selection, at) => compose(selection, at + 1));
  const unmentioned = notMentioned(answers, merged.length > full.length);
  if (unmentioned !== undefined) paragraphs.splice(full.length, 0, [unmentioned]);
  const unanswered = notAnswered(answers);
  if (unanswered !== undefined) paragraphs.push([unanswered]);
  for (const [at, pieces] of paragraphs.entries()) {
    for (const [piece, text] of pieces.entries()) {
      yield { type: 'text', text: at > 0 && piece === 0 ? `\n\n${text}` : text };
    }
    await turn();
  }
}

function notMentioned(answers: readonly Answer[], isFollowed: boolean): string | undefined {
  const names = [...new Set(answers.flatMap(({ unmentioned }) => unmentioned))].slice(0, unmentionedMax);
  if (names.length === 0) return undefined;
  return `The documents do not mention ${names.join(' or ')}.${isFollowed ? ' Closest:' : ''}`;
}

/** The parts of a question that nothing was found for. */
function notAnswered(answers: readonly Answer[]): string | undefined {
  const open = answers.filter((one) => one.selections.length === 0 && one.unmentioned.length === 0);
  if (open.length === 0) return undefined;
  const asked = open.map(({ question }) => `“${shortened(question, questionLengthMax)}”`);
  return `The documents do not answer ${asked.join(' or ')}.`;
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
  const titles = [...new Set(near.map(({ title }) => `“${title}”`))].slice(0, documentsNearMax);
  if (titles.length === 0) return 'The documents do not answer this.';
  const closest = titles.length === 1 ? 'The closest document is' : 'The closest documents are';
  return `The documents do not answer this. ${closest} ${titles.join(' and ')}.`;
}
