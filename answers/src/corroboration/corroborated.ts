import { shortened } from '../../../runtime/src/pure/text.ts';
import type { FoundPassage } from '../../../server/src/domain/document.ts';
import type { OrganizationId } from '../../../server/src/domain/id.ts';
import { checkedStatementsMax, type Verdict, verdictText } from '../../../server/src/domain/message.ts';
import { type Drafter, type Model, ModelError, type ReplyEvent, type ReplyRequest } from '../model.ts';
import { asksNothing } from '../models/extractive/small-talk.ts';
import { replaceCitations } from './citations.ts';
import { type CheckedPiece, revise } from './revision.ts';
import { type Evidence, readEvidence, readSentence } from './sentence.ts';
import { type Piece, splitClauses, splitPieces } from './statements.ts';
import { findSupports } from './support.ts';

export type Corroborate = (
  draft: string,
  passages: readonly FoundPassage[],
  signal: AbortSignal,
  organizationId: OrganizationId,
) => Iterable<ReplyEvent> | AsyncIterable<ReplyEvent>;

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

/** Runs in a thread that can be terminated, so it neither pauses nor checks a signal. Takes linear time. */
export function* corroborate(draft: string, passages: readonly FoundPassage[]): Generator<ReplyEvent> {
  const evidence = passages.map(readEvidence);
  const pieces = [...splitPieces(draft)].flatMap((piece) => checked(piece, evidence));
  const { text, sources, statements } = revise(pieces, evidence);
  if (!/[\p{L}\p{N}]/u.test(text)) throw new ModelError('The model returned no text.', { transient: true });
  if (statements.length === 0) return yield { type: 'revision', text };
  const missing = statements.filter((statement) => statement.sources.length === 0);
  const verdict: Verdict = {
    statements: statements.length,
    found: statements.length - missing.length,
    checked: statements.slice(0, checkedStatementsMax),
  };
  yield { type: 'step', description: verdictText(verdict, sources.length) };
  const texts = missing.map(({ start, end }) => text.slice(start, end));
  if (texts.length > 0) yield { type: 'step', description: missingText(texts) };
  yield { type: 'revision', text };
  if (sources.length > 0) yield { type: 'sources', sources };
  yield { type: 'verdict', verdict };
}

/** Checks a sentence as a whole, or by its clauses if some are found, so that an addition to a true one is not cited. */
function checked(piece: Piece, evidence: readonly Evidence[]): CheckedPiece[] {
  const whole = check(piece, evidence);
  if (!piece.isStatement || piece.isRow || whole.isCovered) return [whole];
  const clauses = splitClauses(piece).map((clause) => check(clause, evidence));
  return clauses.some(({ cited }) => cited.length > 0) ? clauses : [whole];
}

/** The part of a statement that is checked; real sentences are shorter. */
const claimLengthMax = 2_000;

/** Cites the passages that the draft cites and that support it; if there are none, the one that supports it best. */
function check(piece: Piece, evidence: readonly Evidence[]) {
  const plain = replaceCitations(piece.text, piece.citations, () => '').slice(0, claimLengthMax);
  const claim = plain.replace(/[*_`]+/g, '');
  const supports = piece.isStatement ? findSupports(readSentence(claim), evidence) : [];
  const own = piece.cites.flatMap((number) => supports.filter(({ passage }) => passage === number - 1));
  const bestFirst = supports.toSorted((a, b) => b.coverage - a.coverage);
  const isCovered = bestFirst[0]?.coverage === 1;
  return { ...piece, cited: own.length > 0 ? own : bestFirst.slice(0, 1), isCovered };
}

const shownMax = 3;
const shownLengthMax = 120;

function missingText(statements: readonly string[]): string {
  const shown = statements
    .slice(0, shownMax)
    .map((statement) => `“${shortened(statement.replace(/[*_`]+/g, ''), shownLengthMax)}”`);
  const more = statements.length > shownMax ? ` and ${statements.length - shownMax} more` : '';
  return `Not found in the documents: ${shown.join(', ')}${more}`;
}
