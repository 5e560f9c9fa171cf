import MarkdownIt from 'markdown-it';
import { sentenceEnds } from '../reading/passage-parts.ts';
import { stopWords } from '../retrieval/stop-words.ts';
import { wordsOf } from '../retrieval/terms.ts';
import { citationsIn, codeSpans, insideOf } from './citations.ts';

/** A citation in a piece of text. */
export interface Mark {
  /** Where in the piece's text. A `placeholder` replaces one that the sentence needs. */
  readonly at: number;
  /** By number from 1. */
  readonly passages: readonly number[];
  /** Whether the sentence is incomplete without it. */
  readonly isWord: boolean;
}

/** A piece of a draft. The pieces in order are the draft without its citations. */
export interface Piece {
  readonly text: string;
  /** Whether it states something that documents could confirm. */
  readonly isStatement: boolean;
  readonly isRow: boolean;
  /** The passages that it cites, by number from 1, in order. */
  readonly cites: readonly number[];
  /** Citations that keep their place: those that the sentence needs, and those in a table cell. */
  readonly kept: readonly Mark[];
  /** The same text as several statements, if its clauses can be checked one by one. */
  readonly clauses: readonly Piece[];
}

/** Neither a letter nor a space: a sentence may begin and end with it. */
export const placeholder = '\ue000';

/** Splits a Markdown draft into statements and the text between them. */
export function* piecesOf(draft: string): Generator<Piece> {
  for (const { kind, text } of partsOf(draft)) {
    if (kind === 'code') yield between(text);
    else yield* piecesOfPart(text, kind);
  }
}

interface Part {
  /** `code` is everything without words, such as a horizontal rule. The header of a table is a heading. */
  readonly kind: 'text' | 'row' | 'heading' | 'code';
  readonly text: string;
}

const markdown = new MarkdownIt();
const kinds = new Map<string, Part['kind']>([
  ['paragraph_open', 'text'],
  ['tr_open', 'row'],
  ['heading_open', 'heading'],
  ['thead_open', 'heading'],
  ['fence', 'code'],
  ['code_block', 'code'],
]);

/** The parts of a Markdown text in order, each with whole lines. */
function* partsOf(draft: string): Generator<Part> {
  const lines = draft.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const textOf = (from: number, to?: number) => lines.slice(from, to).join('');
  const tokens: ReturnType<typeof markdown.parse> = [];
  markdown.block.parse(draft.replaceAll('\r', ' '), markdown, {}, tokens);
  let next = 0;
  for (const { type, map } of tokens) {
    const kind = kinds.get(type);
    // The row of a header has been read with the header.
    if (kind === undefined || map === null || map[0] < next) continue;
    if (map[0] > next) yield { kind: 'code', text: textOf(next, map[0]) };
    yield { kind, text: textOf(...map) };
    next = map[1];
  }
  if (next < lines.length) yield { kind: 'code', text: textOf(next) };
}

const lineStart = /^\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?/;

function* piecesOfPart(part: string, kind: Part['kind']): Generator<Piece> {
  const trimmed = part.trimEnd();
  const start = lineStart.exec(trimmed)![0];
  if (start !== '') yield between(start);
  const isRow = kind === 'row';
  const { text, marks } = withoutMarks(trimmed.slice(start.length));
  for (const one of cut(text, marks, isRow ? [text.length] : statementEnds(text), /^\s*/)) {
    if (one.gap !== '') yield between(one.gap);
    const piece = pieceOf(one, kind !== 'heading', isRow);
    yield piece.isStatement && !isRow ? { ...piece, clauses: clausesOf(one) } : piece;
  }
  if (trimmed.length < part.length) yield between(part.slice(trimmed.length));
}

/** The ends of sentences, and of lines unless the next one starts with a lowercase letter. None is within code. */
function statementEnds(text: string): number[] {
  const lineEnds = [...text.matchAll(/\n(?!\s*\p{Ll})/gu)].map(({ index }) => index);
  const ends = new Set([...sentenceEnds(text), ...lineEnds].sort((a, b) => a - b));
  const isCode = insideOf(codeSpans(text));
  return [...ends].filter((end) => !isCode(end));
}

interface Segment {
  /** What separates it from the segment before. */
  readonly gap: string;
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Cuts a text with its marks at the given ends, the last of which is the end of the text. */
function* cut(
  text: string,
  marks: readonly Mark[],
  ends: readonly number[],
  gap: RegExp,
): Generator<Segment> {
  let [from, taken] = [0, 0];
  for (const to of ends) {
    const between = gap.exec(text.slice(from, to))![0];
    const begin = from + between.length;
    const first = taken;
    while (taken < marks.length && (to === text.length || endOf(marks[taken]!) <= to)) taken++;
    const own = marks.slice(first, taken).map((mark) => ({ ...mark, at: Math.max(0, mark.at - begin) }));
    yield { gap: between, text: text.slice(begin, to), marks: own };
    from = to;
  }
}

function endOf({ at, isWord }: Mark): number {
  return isWord ? at + placeholder.length : at;
}

function between(text: string): Piece {
  return { text, isStatement: false, isRow: false, cites: [], kept: [], clauses: [] };
}

function pieceOf({ text, marks }: Segment, canState: boolean, isRow: boolean): Piece {
  return {
    text,
    isStatement: canState && isStatement(text),
    isRow,
    cites: marks.flatMap(({ passages }) => passages),
    kept: marks.filter(({ isWord }) => isWord || isRow),
    clauses: [],
  };
}

const clauseEnd = /; |, (?=(?:and|but|while|whereas|although|though|so|yet)\s)| [–—] /g;
const clausesMax = 8;

/**
 * The clauses of a sentence and the text between them: each ends with its citation, or where another clause begins. A
 * clause without a citation is covered by the next one.
 */
function clausesOf({ text, marks }: Segment): Piece[] {
  const possible = new Set([
    ...marks.filter(({ isWord }) => !isWord).map(({ at }) => at),
    ...[...text.matchAll(clauseEnd)].map(({ index }) => index),
  ]);
  if (possible.size > clausesMax) return [];
  const isCode = insideOf(codeSpans(text));
  const ends: number[] = [];
  for (const end of [...possible].sort((a, b) => a - b)) {
    const isClause = isStatement(text.slice(ends.at(-1) ?? 0, end)) && isStatement(text.slice(end));
    if (isClause && !isCode(end)) ends.push(end);
  }
  if (ends.length === 0) return [];
  const segments = [...cut(text, marks, [...ends, text.length], /^[\s,;–—]*/)];
  return segments.flatMap((one, at) => {
    const cites = segments.slice(at).find(({ marks }) => marks.length > 0)?.marks ?? [];
    const piece = { ...pieceOf(one, true, false), cites: cites.flatMap(({ passages }) => passages) };
    return one.gap === '' ? [piece] : [between(one.gap), piece];
  });
}

function withoutMarks(line: string): { text: string; marks: Mark[] } {
  const marks: Mark[] = [];
  const kept: string[] = [];
  let length = 0;
  let from = 0;
  const keep = (piece: string) => {
    kept.push(piece);
    length += piece.length;
  };
  for (const citation of citationsIn(line)) {
    const { passages, isWord } = citation;
    keep(line.slice(from, citation.from));
    marks.push({ at: length, passages, isWord });
    if (isWord) keep(placeholder);
    from = citation.to;
  }
  keep(line.slice(from));
  return { text: kept.join(''), marks };
}

/** Polite phrases. A short sentence that starts with one states nothing. */
const courtesy =
  /^(?:hi|hello|hey|dear|sure|certainly|of course|thanks|thank you|you(?:'|’)re welcome|good (?:morning|afternoon|evening|question)|great question|i(?:'|’)m (?:happy|glad|sorry|afraid|here)|yes|no|overall|in summary)\b/i;
const courtesyWordsMax = 6;
const offer =
  /^(?:i hope\b|please (?:let me know|ask|feel free)|let me know|feel free|happy to help|if you (?:have|need|want|would like) (?:any|more|further|to know))/i;

const documents = '(?:documents?|passages?|sources?|context|excerpts?|material|information)';
/** Sentences about the documents themselves, which the documents cannot confirm. */
const aboutTheDocuments = new RegExp(
  [
    `^(?:however,? |but |unfortunately,? )?(?:the|these|your|our|none of the) (?:provided |given |available |found )?${documents} (?:do(?:es)?(?: not|n['’]t)|did(?: not|n['’]t)|cannot|contains? no|ha(?:s|ve) no|says? nothing|mentions? (?:no|nothing)|answers?)`,
    "\\b(?:i|we) (?:cannot|(?:could|can|did|do)(?: not|n['’]t)) (?:find|see|locate|know|have|tell|answer)\\b",
    `\\b(?:nothing|no (?:information|mention|answer|details?))\\b[^.]{0,60}\\b${documents}\\b`,
    `\\bnot (?:mentioned|covered|stated|specified|described|found) (?:in|by) (?:the|any|these|your)\\b[^.]{0,40}\\b${documents}\\b`,
    '^the closest documents? (?:is|are)\\b',
  ].join('|'),
  'i',
);
const contentWordsMin = 2;

function isStatement(sentence: string): boolean {
  const start = sentence.trimStart().slice(0, 400);
  // A sentence that is only code states nothing.
  const prose = codeSpans(start).reduceRight(
    (rest, [from, to]) => rest.slice(0, from) + rest.slice(to),
    start,
  );
  if (!/[\p{L}\p{N}]/u.test(prose)) return false;
  const text = start.replace(/^[*_"“(]+/, '');
  if (/[?:]["”*_)]*$/.test(sentence.slice(-20).trimEnd()) || offer.test(text)) return false;
  if (aboutTheDocuments.test(text)) return false;
  const words = wordsOf(text);
  if (courtesy.test(text) && words.length <= courtesyWordsMax) return false;
  return words.filter((word) => !stopWords.has(word)).length >= contentWordsMin;
}
