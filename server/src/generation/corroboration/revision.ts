import type { FoundPassage } from '../../domain/document.ts';
import type { CheckedStatement, Source } from '../../domain/message.ts';
import { shortened } from '../../domain/text.ts';
import { type Citation, replaceCitations, withMarks, withMarksInRow } from './citations.ts';
import type { Piece } from './statements.ts';
import type { Support } from './support.ts';

export interface Finding {
  readonly piece: Piece;
  readonly supports: readonly Support[];
}

export interface RevisedStatement extends CheckedStatement {
  /** Its text without the citations that follow it. */
  readonly wording: string;
}

export interface Revision {
  readonly text: string;
  /** One per document, in order of first citation. */
  readonly sources: readonly Source[];
  readonly statements: readonly RevisedStatement[];
}

export function revise(findings: readonly Finding[], passages: readonly FoundPassage[]): Revision {
  const cited = findings.map(({ piece, supports }) => toCite(piece, supports));
  const sources = new Sources(passages, cited.flat());
  const statements: RevisedStatement[] = [];
  const texts: string[] = [];
  let start = 0;
  for (const [at, { piece }] of findings.entries()) {
    const shown = new Set<number>();
    const wording = replaceCitations(piece.text, piece.citations, (citation) =>
      citation.isWord || piece.isRow ? markText(citation, cited[at]!, sources, shown) : '',
    );
    const numbers = new Set(cited[at]!.map(({ passage }) => sources.numberOf(passage)!));
    const inOrder = [...numbers].sort((a, b) => a - b);
    const following = inOrder.filter((number) => !shown.has(number));
    const text = (piece.isRow ? withMarksInRow : withMarks)(wording, following);
    const end = start + text.length;
    if (piece.isStatement) statements.push({ start, end, sources: inOrder, wording });
    texts.push(text);
    start = end;
  }
  return { text: texts.join(''), sources: sources.numbered, statements };
}

/** The passages that the draft cites and that support the statement; if there are none, the one that supports it best. */
function toCite({ cites }: Piece, supports: readonly Support[]): readonly Support[] {
  const cited = supports.filter(({ passage }) => cites.includes(passage + 1));
  if (cited.length > 0)
    return cited.sort((a, b) => cites.indexOf(a.passage + 1) - cites.indexOf(b.passage + 1));
  const coverage = Math.max(...supports.map((one) => one.coverage));
  return supports.filter((one) => one.coverage === coverage).slice(0, 1);
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
  readonly #supports: ReadonlyMap<string, readonly Support[]>;

  constructor(passages: readonly FoundPassage[], supports: readonly Support[]) {
    this.#passages = passages;
    this.#supports = Map.groupBy(supports, ({ passage }) => passages[passage]!.documentId);
  }

  /** Undefined if the document is not a source. */
  numberOf(passage: number): number | undefined {
    const document = this.#passages[passage];
    const supports = this.#supports.get(document?.documentId ?? '');
    if (document === undefined || supports === undefined) return undefined;
    const { documentId: id, title, url } = document;
    const known = this.numbered.findIndex((source) => source.id === id);
    return known < 0 ? this.numbered.push({ id, title, url, snippet: snippetOf(supports) }) : known + 1;
  }

  nameOf(passage: number): string {
    const document = this.#passages[passage];
    return document === undefined ? 'an unknown source' : `“${shortened(document.title, titleLengthMax)}”`;
  }
}

const snippetLengthMax = 300;
/** More would rarely fit. */
const snippetPlacesMax = 20;

type Place = Pick<Support, 'sentences' | 'from' | 'to'>;

/** The cited sentences, as many as fit in order of citation, and then the sentences after the first of them. */
function snippetOf(supports: readonly Support[]): string {
  const [{ sentences, to }] = supports as [Support];
  const following = sentences.map((_, at): Place => ({ sentences, from: at, to: at })).slice(to + 1);
  const shown: Place[] = [];
  let snippet = '';
  for (const place of [...supports.slice(0, snippetPlacesMax), ...following]) {
    const longer = textOf([...shown, place]);
    if (shown.length > 0 && longer.length > snippetLengthMax) continue;
    shown.push(place);
    snippet = longer;
  }
  return shortened(snippet, snippetLengthMax);
}

/** The sentences of each passage in order, with ` … ` where others are left out. */
function textOf(places: readonly Place[]): string {
  const passages = [...Map.groupBy(places, ({ sentences }) => sentences)];
  const texts = passages.flatMap(([sentences, own]) => {
    const isShown = (at: number) => own.some(({ from, to }) => at >= from && at <= to);
    const shown = sentences.map((sentence, at) => (isShown(at) ? sentence : '\0'));
    return shown.join(' ').split('\0');
  });
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' … ');
}
