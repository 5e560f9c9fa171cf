import type { FoundPassage } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { checkedStatementsMax, type Verdict, verdictText } from '../../domain/message.ts';
import { shortened } from '../../domain/text.ts';
import { type Drafter, type Model, ModelError, type ReplyEvent, type ReplyRequest } from '../model.ts';
import { smallTalkReply } from '../models/extractive/small-talk.ts';
import { replaceCitations } from './citations.ts';
import { type Evidence, readClaim, readEvidence } from './claim.ts';
import { type Finding, type RevisedStatement, revise } from './revision.ts';
import { type Piece, piecesOf } from './statements.ts';
import { supportsOf } from './support.ts';

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
        if (event.type === 'passages') {
          passages.push(...event.passages);
          continue;
        }
        if (event.type === 'text') draft += event.text;
        yield event;
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
      const asksNothing = smallTalkReply(request.conversation.at(-1)?.content ?? '') !== undefined;
      if (!isChecked && !asksNothing && !draft.includes('```')) yield { type: 'unanswered' };
    },
  };
}

/** Runs in a thread that can be terminated, so it neither pauses nor checks a signal. Takes linear time. */
export function* corroborate(draft: string, passages: readonly FoundPassage[]): Generator<ReplyEvent> {
  const evidence = passages.map(readEvidence);
  const findings = [...piecesOf(draft)].flatMap((piece) => findingsIn(piece, evidence));
  const { text, sources, statements } = revise(findings, passages);
  if (!/[\p{L}\p{N}]/u.test(text)) throw new ModelError('The model gave no text.', { transient: true });
  if (statements.length === 0) {
    yield { type: 'revision', text };
    return;
  }
  const verdict = verdictOf(statements);
  const steps = stepsFor(verdict, statements, sources.length);
  for (const description of steps) yield { type: 'step', description };
  yield { type: 'revision', text };
  if (sources.length > 0) yield { type: 'sources', sources };
  yield { type: 'verdict', verdict };
}

function verdictOf(statements: readonly RevisedStatement[]): Verdict {
  return {
    statements: statements.length,
    found: statements.filter(({ sources }) => sources.length > 0).length,
    checked: statements
      .slice(0, checkedStatementsMax)
      .map(({ start, end, sources }) => ({ start, end, sources })),
  };
}

/** The part of a statement that is checked; real sentences are shorter. */
const statementLengthMax = 2_000;

/**
 * The findings on a sentence: on its clauses where some of them are found, so that a true clause keeps its citation and
 * an addition to it does not get one; otherwise on the whole.
 */
function findingsIn(piece: Piece, evidence: readonly Evidence[]): Finding[] {
  const whole = findingOf(piece, evidence);
  if (piece.clauses.length === 0 || whole.supports.some(({ coverage }) => coverage === 1)) return [whole];
  const clauses = piece.clauses.map((clause) => findingOf(clause, evidence));
  return clauses.some(({ supports }) => supports.length > 0) ? clauses : [whole];
}

function findingOf(piece: Piece, evidence: readonly Evidence[]): Finding {
  if (!piece.isStatement) return { piece, supports: [] };
  const statement = replaceCitations(piece.text, piece.citations, () => '').slice(0, statementLengthMax);
  return { piece, supports: supportsOf(readClaim(statement), evidence) };
}

const shownMax = 3;
const shownLengthMax = 120;

function stepsFor(verdict: Verdict, statements: readonly RevisedStatement[], sourceCount: number): string[] {
  const missing = statements.filter(({ sources }) => sources.length === 0);
  const steps = [verdictText(verdict, sourceCount)];
  if (missing.length > 0) {
    const shown = missing
      .slice(0, shownMax)
      .map(({ wording }) => `“${shortened(wording.replace(/[*_`]+/g, ''), shownLengthMax)}”`);
    const more = missing.length > shownMax ? ` and ${missing.length - shownMax} more` : '';
    steps.push(`Not found in the documents: ${shown.join(', ')}${more}`);
  }
  return steps;
}
