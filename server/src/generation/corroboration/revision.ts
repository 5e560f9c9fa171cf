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
  const cited = pieces.flatMap((piece) => piece.cited);
  const sources = new Sources(passages, evidence, cited);
  const statements: CheckedStatement[] = [];
  const texts: string[] = [];
  let start = 0;
  for (const piece of pieces) {
    const wording = replaceCitations(piece.text, piece.citations, (citation) =>
      citation.isWord ? titlesOf(citation, passages) : '',
    );
    const numbers = new Set(piece.cited.map(({ passage }) => sources.numberOf(passage)));
    const inOrder = [...numbers].sort((a, b) => a - b);
    const text = (piece.isRow ? withMarksInRow : withMarks)(wording, inOrder);
    const end = start + text.length;
    if (piece.isStatement) statements.push({ start, end, sources: inOrder });
    texts.push(text);
    start = end;
  }
  return { text: texts.join(''), sources: sources.numbered, statements };
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

  numberOf(passage: number): number {
    const { documentId: id, title, url } = this.#passages[passage]!;
    const known = this.numbered.findIndex((source) => source.id === id);
    if (known >= 0) return known + 1;
    return this.numbered.push({ id, title, url, snippet: snippetOf(this.#cited.get(id)!, this.#evidence) });
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
