import type { FoundPassage } from '../../domain/document.ts';
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

interface Revision {
  readonly text: string;
  /** One per document, in order of first citation. */
  readonly sources: readonly Source[];
  readonly statements: readonly CheckedStatement[];
}

/** The text with the citations that were found to be right, each at the end of its statement. */
export function revise(
  pieces: readonly CheckedPiece[],
  passages: readonly FoundPassage[],
  evidence: readonly Evidence[],
): Revision {
  const documentOf = ({ passage }: Support) => passages[passage]!.documentId;
  const cited = Map.groupBy(
    pieces.flatMap((piece) => piece.cited),
    documentOf,
  );
  const documents = [...cited.keys()];
  const sources = [...cited].map(([id, supports]): Source => {
    const { title, url } = passages[supports[0]!.passage]!;
    return { id, title, url, snippet: snippetOf(supports, evidence) };
  });
  const statements: CheckedStatement[] = [];
  const texts: string[] = [];
  let start = 0;
  for (const piece of pieces) {
    const wording = replaceCitations(piece.text, piece.citations, (citation) =>
      citation.isWord ? titlesOf(citation, passages) : '',
    );
    const numbers = new Set(piece.cited.map((support) => 1 + documents.indexOf(documentOf(support))));
    const inOrder = [...numbers].sort((a, b) => a - b);
    const text = (piece.isRow ? withMarksInRow : withMarks)(wording, inOrder);
    const end = start + text.length;
    if (piece.isStatement) statements.push({ start, end, sources: inOrder });
    texts.push(text);
    start = end;
  }
  return { text: texts.join(''), sources, statements };
}

const titleLengthMax = 120;

/** The text in place of a citation that its sentence needs. */
function titlesOf({ passages: cited }: Citation, passages: readonly FoundPassage[]): string {
  const titles = cited.map((number) => {
    const document = passages[number - 1];
    return document === undefined ? 'an unknown source' : `“${shortened(document.title, titleLengthMax)}”`;
  });
  return [...new Set(titles)].join(' and ');
}

const snippetLengthMax = 300;

/** The cited sentences in order of citation, each once, as many as fit. */
function snippetOf(cited: readonly Support[], evidence: readonly Evidence[]): string {
  const shown = new Set<string>();
  let snippet = '';
  let previous = '';
  for (const { passage, from, to } of cited) {
    for (let place = from; place <= to; place += 1) {
      const { text } = evidence[passage]!.sentences[place]!;
      const name = `${passage} ${place}`;
      const isNext = previous === `${passage} ${place - 1}`;
      const longer = snippet === '' ? text : `${snippet}${isNext ? ' ' : ' … '}${text}`;
      if (shown.has(name) || (snippet !== '' && longer.length > snippetLengthMax)) continue;
      shown.add(name);
      snippet = longer;
      previous = name;
    }
  }
  return shortened(snippet, snippetLengthMax);
}
