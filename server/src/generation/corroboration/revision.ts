import type { CheckedStatement, Source } from '../../domain/message.ts';
import { shortened } from '../../domain/text.ts';
import { type Citation, replaceCitations, withMarks, withMarksInRow } from './citations.ts';
import type { Evidence } from './sentence.ts';
import type { Piece } from './statements.ts';
import type { Support } from './support.ts';

export interface CheckedPiece extends Piece {
  /** The support that it gets citations for. Empty if it was not found. */
  readonly cited: readonly Support[];
}

/** The text with its correct citations. The sources are in the order of the first statement that each supports. */
export function revise(pieces: readonly CheckedPiece[], evidence: readonly Evidence[]) {
  const supports = pieces.flatMap((piece) => piece.cited);
  const supportsOf = Map.groupBy(supports, ({ passage }) => evidence[passage]!.documentId);
  const documents: readonly (string | undefined)[] = [...supportsOf.keys()];
  /** 0 if the document is not a source. */
  const numberOf = (passage: number) => documents.indexOf(evidence[passage]?.documentId) + 1;
  const statements: CheckedStatement[] = [];
  let text = '';
  for (const piece of pieces) {
    const shown = new Set<number>();
    const wording = replaceCitations(piece.text, piece.citations, (citation) =>
      citation.isWord || piece.isRow ? markText(citation, piece.cited, evidence, numberOf, shown) : '',
    );
    const numbers = new Set(piece.cited.map(({ passage }) => numberOf(passage)));
    const inOrder = [...numbers].sort((a, b) => a - b);
    const following = inOrder.filter((number) => !shown.has(number));
    const start = text.length;
    text += (piece.isRow ? withMarksInRow : withMarks)(wording, following);
    if (piece.isStatement) statements.push({ start, end: text.length, sources: inOrder });
  }
  const sources = Array.from(supportsOf, ([id, own]): Source => {
    const { title, url } = evidence[own[0]!.passage]!;
    return { id, title, url, snippet: snippetOf(own, evidence) };
  });
  return { text, sources, statements };
}

const titleLengthMax = 120;

/**
 * The text in place of a citation that its sentence needs, or in a table cell; its numbers are added to `shown`. A document
 * that is not a source has no number: a citation that the sentence needs becomes the title, others disappear.
 */
function markText(
  { isWord, passages }: Citation,
  cited: readonly Support[],
  evidence: readonly Evidence[],
  numberOf: (passage: number) => number,
  shown: Set<number>,
): string {
  const words = new Set<string>();
  for (const passage of passages.map((number) => number - 1)) {
    const isCited = isWord || cited.some((one) => one.passage === passage);
    const number = isCited ? numberOf(passage) : 0;
    const title = evidence[passage]?.title;
    if (number > 0) shown.add(number);
    if (number > 0) words.add(`[${number}]`);
    else if (isWord) words.add(title ? `“${shortened(title, titleLengthMax)}”` : 'an unknown source');
  }
  const isNumbersOnly = [...words].every((word) => word.startsWith('['));
  const text = [...words].join(isNumbersOnly ? '' : ' and ');
  return isWord || text === '' ? text : ` ${text}`;
}

const snippetLengthMax = 300;

/** The cited sentences in order of citation, each once, up to the limit. */
function snippetOf(cited: readonly Support[], evidence: readonly Evidence[]): string {
  const shown = new Set<string>();
  const parts = cited.map(({ passage, from, to }) => {
    const texts = evidence[passage]!.sentences.slice(from, to + 1).map(({ text }) => text);
    const added = texts.filter((text) => !shown.has(text));
    for (const text of added) shown.add(text);
    return added.join(' ');
  });
  return shortened(parts.filter((part) => part !== '').join(' … '), snippetLengthMax);
}
