import { shortened } from '../../../runtime/src/pure/text.ts';
import { describeVerdict, distinguishTitles, noDirectAnswer } from '../corroboration/verdict.ts';
import type { DocumentOutline, PassageStore } from '../port/documents.ts';
import type { Source } from '../port/model.ts';
import { type Model, type ReplyEvent, type ReplyRequest, searchStep } from '../port/model.ts';
import { searchPassages } from '../retrieval/search.ts';
import { type Answer, answerTo, passagesMax } from './extractive/answer.ts';
import { findQuestions } from './extractive/asking.ts';
import { detectLanguage } from './extractive/language.ts';
import { type Quote, quotedText, render, shownHeading, shownUnits, withHeader } from './extractive/quote.ts';
import { asksNothing, noDocuments, smallTalkReply } from './extractive/small-talk.ts';

const outlinesMax = 20;
const documentsNamedMax = 3;
const questionLengthMax = 60;
const snippetLengthMax = 300;

/** Quotes the organization's documents: the passages that answer the question, or the closest ones. Uses no network. */
export function extractiveModel(store: PassageStore): Model {
  return {
    name: 'extractive',

    async *reply(request: ReplyRequest): AsyncGenerator<ReplyEvent> {
      const { organizationId, accountId, conversation, signal } = request;
      const outlines = () => store.outlineDocuments(organizationId, accountId, outlinesMax);
      const prompt = conversation.at(-1)?.content ?? '';
      const reply = smallTalkReply(prompt);
      if (reply !== undefined)
        return yield { type: 'text', text: typeof reply === 'string' ? reply : reply(await outlines()) };
      const questions = findQuestions(conversation);
      const answers: Answer[] = [];
      let searched = 0;
      for (const [at, question] of questions.entries()) {
        const { text, context } = question;
        const findings = await searchPassages(store, organizationId, accountId, text, passagesMax, context);
        signal.throwIfAborted();
        searched = findings.searched;
        if (at === 0) yield { type: 'step', description: searchStep(searched) };
        answers.push(answerTo(question, findings, questions.length));
      }
      const isFound = answers.some(({ level }) => level !== 'nothing');
      const isAnswered = answers.some(({ level }) => level === 'answer');
      if (!isAnswered && !asksNothing(prompt)) yield { type: 'unanswered' };
      // Outlines take milliseconds to load: the closest passages to a question in English are shown without a note.
      const language = isAnswered ? undefined : detectLanguage(prompt);
      const mayDiffer = language !== undefined && !(isFound && language === 'English');
      const note = mayDiffer ? languageNote(language, await outlines()) : '';
      const declined = searched === 0 ? noDocuments : `I did not find an answer in the documents.${note}`;
      if (isFound && note === '') yield* quoted(answers, isAnswered);
      else yield { type: 'text', text: declined };
    },
  };
}

function* quoted(answers: readonly Answer[], isAnswered: boolean): Generator<ReplyEvent> {
  const isOpen = ({ level }: Answer) => level !== (isAnswered ? 'answer' : 'closest');
  // Parts without an answer come last.
  const parts = answers.toSorted((a, b) => Number(isOpen(a)) - Number(isOpen(b)));
  const quotes = distinct(parts.flatMap((part) => part.quotes));
  const sources = listSources(quotes);
  for (const { title } of sources.slice(0, documentsNamedMax)) {
    yield { type: 'step', description: `Reading ${title}` };
  }
  const unknown = parts.find(({ unknownName }) => unknownName !== undefined)?.unknownName;
  const why = unknown === undefined ? '' : ` The documents do not mention “${unknown}”.`;
  const paragraphs = isAnswered ? [] : [`${noDirectAnswer}${why} The closest passages are:`];
  for (const part of parts) {
    const shown = part.quotes.filter((quote) => quotes.includes(quote));
    const quotedQuestion = `“${shortened(part.question.text, questionLengthMax)}”`;
    const near = `I did not find a direct answer to ${quotedQuestion}. The closest passage is:`;
    if (isOpen(part))
      paragraphs.push(shown.length > 0 ? near : `I did not find an answer to ${quotedQuestion}.`);
    for (const quote of shown) {
      const mark = 1 + sources.findIndex(({ id }) => id === quote.passage.documentId);
      paragraphs.push(render(quote, mark));
    }
  }
  yield { type: 'text', text: paragraphs.join('\n\n') };
  if (isAnswered) {
    yield { type: 'corroborating' };
    // A quote is copied from its source, so every statement in it counts as found. Code is no statement.
    const statements = Math.max(1, quotes.flatMap(shownUnits).filter(({ kind }) => kind !== 'code').length);
    const verdict = { statements, found: statements, checked: [] };
    yield { type: 'step', description: describeVerdict(verdict, sources.length) };
  }
  yield { type: 'sources', sources };
}

/** Removes quotes whose key unit an earlier one shows: several passages may have the same sentence. */
function distinct(quotes: readonly Quote[]): Quote[] {
  return quotes.filter(({ passage, units, key }, at) => {
    const beginning = withHeader(units[key]!).replace(/ …$/, '');
    const earlier = quotes.slice(0, at).filter((one) => shownHeading(one.passage) === shownHeading(passage));
    return !earlier.flatMap(shownUnits).some((unit) => withHeader(unit).startsWith(beginning));
  });
}

function listSources(quotes: readonly Quote[]): Source[] {
  const documents = Map.groupBy(quotes, ({ passage }) => passage.documentId);
  const sources = Array.from(documents, ([id, own]) => {
    const { name, title, url } = own[0]!.passage;
    return { id, name, title, url, snippet: buildSnippet(own) };
  });
  return distinguishTitles(sources);
}

/** Each quote gets an equal part of the length. Its key unit is always shown, at least its beginning. */
function buildSnippet(quotes: readonly Quote[]): string {
  const joint = ' … ';
  const lengthMax = Math.floor((snippetLengthMax + joint.length) / quotes.length) - joint.length;
  const texts = quotes.map((quote) => {
    const isKeyNear = quotedText({ ...quote, to: quote.key }).length < lengthMax;
    return shortened(quotedText(isKeyNear ? quote : { ...quote, from: quote.key }), lengthMax);
  });
  return texts.join(joint).replaceAll('… …', '…');
}

function languageNote(asked: string, outlines: readonly DocumentOutline[]): string {
  const written = detectLanguage(outlines.map(({ opening }) => opening).join('\n'));
  if (written === undefined || asked === written) return '';
  return ` They are in ${written}, and your question seems to be in ${asked}: try asking in ${written}.`;
}
