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

/** The text with the citations that were found to be right. */
export function revise(
  pieces: readonly CheckedPiece[],
  passages: readonly FoundPassage[],
  evidence: readonly Evidence[],
): Revision {
  const cited = pieces.flatMap((piece) => piece.cited);
  const sources = new Sources(passages, evidence, cited);
  const statements: CheckedStatement[] = [];
  const texts: string[] = [];
  let start = 0;
  for (const piece of pieces) {
    const shown = new Set<number>();
    const wording = replaceCitations(piece.text, piece.citations, (citation) =>
      citation.isWord || piece.isRow ? markText(citation, piece.cited, sources, shown) : '',
    );
    const numbers = new Set(piece.cited.map(({ passage }) => sources.numberOf(passage)!));
    const inOrder = [...numbers].sort((a, b) => a - b);
    const following = inOrder.filter((number) => !shown.has(number));
    const text = (piece.isRow ? withMarksInRow : withMarks)(wording, following);
    const end = start + text.length;
    if (piece.isStatement) statements.push({ start, end, sources: inOrder });
    texts.push(text);
    start = end;
  }
  return { text: texts.join(''), sources: sources.numbered, statements };
}

/**
 * The text in place of a citation that its sentence needs, or in a table cell; its numbers are added to `shown`. A document
 * that is not a source has no number: a citation that the sentence needs becomes the title, others disappear.
 */
function markText(
  { isWord, passages }: Citation,
  cited: readonly Support[],
  sources: Sources,
  shown: Set<number>,
): string {
  const words = new Set<string>();
  for (const passage of passages.map((number) => number - 1)) {
    const isCited = isWord || cited.some((one) => one.passage === passage);
    const number = isCited ? sources.numberOf(passage) : undefined;
    if (number !== undefined) shown.add(number);
    if (number !== undefined) words.add(`[${number}]`);
    else if (isWord) words.add(sources.nameOf(passage));
  }
  const isNumbersOnly = [...words].every((word) => word.startsWith('['));
  const text = [...words].join(isNumbersOnly ? '' : ' and ');
  return isWord || text === '' ? text : ` ${text}`;
}

const titleLengthMax = 120;

/** The documents in which statements were found. Each gets its number when it is first cited. */
class Sources {
  readonly numbered: Source[] = [];
  readonly #passages: readonly FoundPassage[];
  readonly #evidence: readonly Evidence[];
  readonly #cited: ReadonlyMap<string, readonly Support[]>;

  constructor(passages: readonly FoundPassage[], evidence: readonly Evidence[], cited: readonly Support[]) {
    this.#passages = passages;
    this.#evidence = evidence;
    this.#cited = Map.groupBy(cited, ({ passage }) => passages[passage]!.documentId);
  }

  /** Undefined if the document is not a source. */
  numberOf(passage: number): number | undefined {
    const document = this.#passages[passage];
    const cited = this.#cited.get(document?.documentId ?? '');
    if (document === undefined || cited === undefined) return undefined;
    const { documentId: id, title, url } = document;
    const known = this.numbered.findIndex((source) => source.id === id);
    return known < 0
      ? this.numbered.push({ id, title, url, snippet: snippetOf(cited, this.#evidence) })
      : known + 1;
  }

  nameOf(passage: number): string {
    const document = this.#passages[passage];
    return document === undefined ? 'an unknown source' : `“${shortened(document.title, titleLengthMax)}”`;
  }
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
