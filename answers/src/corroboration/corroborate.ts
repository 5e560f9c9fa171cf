import { shortened } from '../../../runtime/src/pure/text.ts';
import type { FoundPassage } from '../port/documents.ts';
import { ModelError, type ReplyEvent, type Verdict } from '../port/model.ts';
import { replaceCitations } from './citations.ts';
import { type CheckedPiece, revise } from './revision.ts';
import { type Evidence, readEvidence, readSentence } from './sentence.ts';
import { type Piece, splitClauses, splitPieces } from './statements.ts';
import { findSupports } from './support.ts';
import { describeVerdict } from './verdict.ts';

export type Corroborate = (
  draft: string,
  passages: readonly FoundPassage[],
  signal: AbortSignal,
  organizationId: string,
) => Iterable<ReplyEvent> | AsyncIterable<ReplyEvent>;

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
  yield { type: 'step', description: describeVerdict(verdict, sources.length) };
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

/** Limits the verdict: a statement takes about 40 bytes. */
const checkedStatementsMax = 1_000;

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
