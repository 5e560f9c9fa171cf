import { shortened } from '../../../runtime/src/pure/text.ts';
import type { CheckedStatement } from '../port/model.ts';
import { type Citation, replaceCitations, withMarks } from './citations.ts';
import type { Evidence } from './sentence.ts';
import type { Piece } from './statements.ts';
import type { Support } from './support.ts';
import { distinguishTitles } from './verdict.ts';

/** `cited` is the support that the piece gets citations for: empty if it was not found. */
export type CheckedPiece = Piece & { readonly cited: readonly Support[] };

const titleLengthMax = 120;

/** The text with its correct citations. The sources are in the order of the first statement that each supports. */
export function revise(pieces: readonly CheckedPiece[], evidence: readonly Evidence[]) {
  const supports = pieces.flatMap((piece) => piece.cited);
  const supportsByDocument = Map.groupBy(supports, ({ passage }) => evidence[passage]!.documentId);
  const documents: readonly (string | undefined)[] = [...supportsByDocument.keys()];
  /** 0 if the document is not a source. */
  const findNumber = (passage: number) => documents.indexOf(evidence[passage]?.documentId) + 1;
  const formatSource = (passage: number) => {
    const [number, title] = [findNumber(passage), evidence[passage]?.title];
    if (number > 0) return `[${number}]`;
    return title ? `“${shortened(title, titleLengthMax)}”` : 'an unknown source';
  };
  const statements: CheckedStatement[] = [];
  let text = '';
  for (const { text: draft, citations, cited, isRow, isStatement } of pieces) {
    const own = cited.map(({ passage }) => passage);
    // Keeps citations that are part of a sentence, and correct ones in a table row.
    const selectPassages = ({ isWord, passages }: Citation) =>
      passages.map((number) => number - 1).filter((passage) => isWord || (isRow && own.includes(passage)));
    const wording = replaceCitations(draft, citations, (citation) => {
      const names = [...new Set(selectPassages(citation).map(formatSource))];
      const citedNames = names.join(names.every((name) => name.startsWith('[')) ? '' : ' and ');
      return citation.isWord || citedNames === '' ? citedNames : ` ${citedNames}`;
    });
    const shown = new Set(citations.flatMap(selectPassages).map(findNumber));
    const sources = [...new Set(own.map(findNumber))].sort((a, b) => a - b);
    const following = sources.filter((number) => !shown.has(number));
    const start = text.length;
    text += withMarks(wording, following);
    if (isStatement) statements.push({ start, end: text.length, sources });
  }
  const sources = Array.from(supportsByDocument, ([id, own]) => {
    const { name, title, url } = evidence[own[0]!.passage]!;
    return { id, name, title, url, snippet: buildSnippet(own, evidence) };
  });
  return { text, sources: distinguishTitles(sources), statements };
}

const snippetLengthMax = 300;

/** The cited sentences in order of citation, each once, up to the limit. */
function buildSnippet(cited: readonly Support[], evidence: readonly Evidence[]): string {
  const sentences = cited.flatMap(({ passage, from, to }) =>
    evidence[passage]!.sentences.slice(from, to + 1),
  );
  return shortened([...new Set(sentences.map(({ text }) => text))].join(' … '), snippetLengthMax);
}
