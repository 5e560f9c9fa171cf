import { setImmediate as turn } from 'node:timers/promises';
import type { FoundPassage } from '../../domain/document.ts';
import type { CheckedStatement, Source } from '../../domain/message.ts';
import { withMarks, withMarksInRow } from './citations.ts';
import { type Place, shortened, snippetOf } from './snippet.ts';
import { type KeptMark, type Piece, placeholder } from './statements.ts';

/** A passage that says what a statement says, and the sentences of it that do. */
export interface PassageSupport extends Place {
  /** Counted from 0. */
  readonly passage: number;
  readonly coverage: number;
}

export interface Finding {
  readonly piece: Piece;
  readonly supports: readonly PassageSupport[];
}

export interface Revision {
  readonly text: string;
  /** One per document, in order of first citation. */
  readonly sources: readonly Source[];
  readonly statements: readonly RevisedStatement[];
}

export interface RevisedStatement extends CheckedStatement {
  /** What it says, without the citations behind it. */
  readonly wording: string;
}

/** How long other work may have to wait for a long draft. */
const stretchMs = 10;

export type Pause = () => Promise<void> | undefined;

/** To be awaited now and then: lets other work run, and rejects once the signal is aborted. */
export function pacer(signal: AbortSignal): Pause {
  let turnedAt = performance.now();
  return () => {
    if (performance.now() - turnedAt < stretchMs) return undefined;
    return turn().then(() => {
      signal.throwIfAborted();
      turnedAt = performance.now();
    });
  };
}

/** Corrects the citations of a draft. */
export async function revise(
  findings: readonly Finding[],
  passages: readonly FoundPassage[],
  pause: Pause,
): Promise<Revision> {
  const sources = new Sources(passages);
  const cited: (readonly PassageSupport[])[] = [];
  for (const { piece, supports } of findings) {
    cited.push(toCite(piece, supports));
    for (const support of cited.at(-1)!) sources.list(support);
    await pause();
  }
  const statements: RevisedStatement[] = [];
  let text = '';
  for (const [at, { piece }] of findings.entries()) {
    const shown = new Set<number>();
    const wording = wordingOf(piece, cited[at]!, sources, shown);
    const numbers = [...new Set(cited[at]!.map(({ passage }) => sources.numberOf(passage)!))].sort(
      (a, b) => a - b,
    );
    const behind = numbers.filter((number) => !shown.has(number));
    const start = text.length;
    text += (piece.isRow ? withMarksInRow : withMarks)(wording, behind);
    if (piece.isStatement) statements.push({ start, end: text.length, sources: numbers, wording });
    await pause();
  }
  return { text, sources: sources.numbered, statements };
}

/** What the draft cites, as far as it supports the statement; otherwise what supports it best. */
function toCite({ cites }: Piece, supports: readonly PassageSupport[]): readonly PassageSupport[] {
  if (supports.length === 0) return [];
  const places = new Map([...cites.entries()].reverse().map(([at, mark]) => [mark - 1, at]));
  const cited = supports.filter(({ passage }) => places.has(passage));
  if (cited.length > 0) return cited.sort((a, b) => places.get(a.passage)! - places.get(b.passage)!);
  return [supports.reduce((best, one) => (one.coverage > best.coverage ? one : best))];
}

/** The text with the citations that keep their place; their numbers are added to `shown`. */
function wordingOf(
  { text, kept }: Piece,
  cited: readonly PassageSupport[],
  sources: Sources,
  shown: Set<number>,
): string {
  const pieces: string[] = [];
  let from = 0;
  for (const mark of kept) {
    pieces.push(text.slice(from, mark.at), markText(mark, cited, sources, shown));
    from = mark.at + (mark.isWord ? placeholder.length : 0);
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(from);
}

/** A sentence that needs the citation of a document that is not a source gets its title; a cell only loses the mark. */
function markText(
  mark: KeptMark,
  cited: readonly PassageSupport[],
  sources: Sources,
  shown: Set<number>,
): string {
  const words = new Set<string>();
  for (const passage of new Set(mark.passages)) {
    const isTold = mark.isWord || cited.some((one) => one.passage === passage - 1);
    const number = isTold ? sources.numberOf(passage - 1) : undefined;
    if (number !== undefined) words.add(`[${shown.add(number) && number}]`);
    else if (mark.isWord) words.add(sources.nameOf(passage - 1));
  }
  const isNumbersOnly = [...words].every((word) => word.startsWith('['));
  const text = [...words].join(isNumbersOnly ? '' : ' and ');
  return mark.isWord || text === '' ? text : ` ${text}`;
}

const titleLengthMax = 120;

/** The documents in which statements were found. Each gets its number when it is first cited. */
class Sources {
  readonly #passages: readonly FoundPassage[];
  readonly #places = new Map<string, Place[]>();
  readonly #numbers = new Map<string, number>();
  readonly numbered: Source[] = [];

  constructor(passages: readonly FoundPassage[]) {
    this.#passages = passages;
  }

  list(support: PassageSupport): void {
    const { documentId } = this.#passages[support.passage]!;
    const places = this.#places.get(documentId);
    if (places === undefined) this.#places.set(documentId, [support]);
    else places.push(support);
  }

  /** Undefined where the document is not a source. */
  numberOf(passage: number): number | undefined {
    const document = this.#passages[passage];
    const places = this.#places.get(document?.documentId ?? '');
    if (document === undefined || places === undefined) return undefined;
    const { documentId: id, title, url } = document;
    if (!this.#numbers.has(id)) {
      this.#numbers.set(id, this.numbered.push({ id, title, url, snippet: snippetOf(places) }));
    }
    return this.#numbers.get(id);
  }

  nameOf(passage: number): string {
    const document = this.#passages[passage];
    return document === undefined ? 'an unknown source' : `“${shortened(document.title, titleLengthMax)}”`;
  }
}
