import { sentenceEnds } from '../reading/sentence-ends.ts';
import { stopWords } from '../retrieval/stop-words.ts';
import { wordsOf } from '../retrieval/terms.ts';
import { citationsIn, codeSpans, insideOf } from './citations.ts';
import { type Line, linesOf } from './lines.ts';

/** A citation that keeps its place: one that the sentence needs, or one in a table cell. */
export interface KeptMark {
  /** Where in the piece's text. A `placeholder` replaces one that the sentence needs. */
  readonly at: number;
  readonly passages: readonly number[];
  readonly isWord: boolean;
}

/** A piece of a draft. The pieces in order are the draft without its citations. */
export interface Piece {
  readonly text: string;
  /** Whether it says something that documents could say too. */
  readonly isStatement: boolean;
  readonly isRow: boolean;
  /** The passages that it cites, by number from 1, in order. */
  readonly cites: readonly number[];
  readonly kept: readonly KeptMark[];
  /** The same text as several statements, where its clauses can be checked one by one. */
  readonly clauses: readonly Piece[];
}

/** Neither a letter nor a space: a sentence may begin and end with it. */
export const placeholder = '\ue000';

const lineStart = /^\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?/;
/** A longer paragraph is read in parts, so that no other work waits for it. */
const paragraphLengthMax = 10_000;

/** Splits a Markdown draft into statements and the text between them. */
export function* piecesOf(draft: string): Generator<Piece> {
  let paragraph = '';
  let isInCode = false;
  for (const { text, kind } of linesOf(draft, paragraphLengthMax)) {
    const goesOn =
      kind === 'text' &&
      (isInCode || /^\p{Ll}/u.test(text)) &&
      paragraph.length + text.length <= paragraphLengthMax;
    if (paragraph !== '' && !goesOn) {
      yield* piecesOfParagraph(paragraph, 'text');
      paragraph = '';
      isInCode = false;
    }
    if (kind === 'text' || kind === 'item') {
      paragraph += text;
      // Inline code may begin in one line and end in another.
      if ((text.match(/`+/g)?.length ?? 0) % 2 === 1) isInCode = !isInCode;
    } else if (kind === 'row' || kind === 'heading') yield* piecesOfParagraph(text, kind);
    else yield between(text);
  }
  if (paragraph !== '') yield* piecesOfParagraph(paragraph, 'text');
}

function* piecesOfParagraph(paragraph: string, kind: Line['kind']): Generator<Piece> {
  const trimmed = paragraph.trimEnd();
  if (trimmed === '') return yield between(paragraph);
  const start = lineStart.exec(trimmed)![0];
  if (start !== '') yield between(start);
  const isRow = kind === 'row';
  const { text, marks } = withoutMarks(trimmed.slice(start.length));
  let from = 0;
  let taken = 0;
  for (const to of isRow ? [text.length] : sentenceEndsOutsideCode(text)) {
    let upTo = taken;
    while (upTo < marks.length && (to === text.length || endOf(marks[upTo]!) <= to)) upTo++;
    const sentence = text.slice(from, to).trimStart();
    const begin = to - sentence.length;
    if (begin > from) yield between(text.slice(from, begin));
    const own = marks.slice(taken, upTo).map((mark) => ({ ...mark, at: mark.at - begin }));
    const piece = pieceOf(sentence, own, kind !== 'heading', isRow);
    yield piece.isStatement && !isRow ? { ...piece, clauses: clausesOf(sentence, own) } : piece;
    from = to;
    taken = upTo;
  }
  if (trimmed.length < paragraph.length) yield between(paragraph.slice(trimmed.length));
}

function sentenceEndsOutsideCode(text: string): number[] {
  const isCode = insideOf(codeSpans(text));
  return sentenceEnds(text).filter((end) => !isCode(end));
}

function between(text: string): Piece {
  return { text, isStatement: false, isRow: false, cites: [], kept: [], clauses: [] };
}

function pieceOf(text: string, marks: readonly KeptMark[], canState: boolean, isRow: boolean): Piece {
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
function clausesOf(sentence: string, marks: readonly KeptMark[]): Piece[] {
  const ends = new Set([
    ...marks.filter(({ isWord }) => !isWord).map(({ at }) => at),
    ...[...sentence.matchAll(clauseEnd)].map(({ index }) => index),
  ]);
  if (ends.size === 0 || ends.size > clausesMax) return [];
  const isCode = insideOf(codeSpans(sentence));
  const pieces: Piece[] = [];
  let from = 0;
  let taken = 0;
  for (const to of [...ends].sort((a, b) => a - b)) {
    if (isCode(to) || !isStatement(sentence.slice(from, to)) || !isStatement(sentence.slice(to))) continue;
    taken = add(from, to, taken);
    from = to;
  }
  if (from === 0) return [];
  add(from, sentence.length, taken);
  for (let at = pieces.length - 2; at >= 0; at--) {
    const piece = pieces[at]!;
    if (piece.cites.length === 0) pieces[at] = { ...piece, cites: pieces[at + 1]!.cites };
  }
  return pieces;

  function add(from: number, to: number, taken: number): number {
    const begin = from + /^[\s,;–—]*/.exec(sentence.slice(from, to))![0].length;
    let upTo = taken;
    while (upTo < marks.length && endOf(marks[upTo]!) <= to) upTo++;
    const own = marks.slice(taken, upTo).map((mark) => ({ ...mark, at: Math.max(0, mark.at - begin) }));
    if (begin > from) pieces.push(between(sentence.slice(from, begin)));
    pieces.push(pieceOf(sentence.slice(begin, to), own, true, false));
    return upTo;
  }
}

function endOf({ at, isWord }: KeptMark): number {
  return isWord ? at + placeholder.length : at;
}

function withoutMarks(line: string): { text: string; marks: KeptMark[] } {
  const marks: KeptMark[] = [];
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

/** Where nothing else is said. */
const courtesy =
  /^(?:hi|hello|hey|dear|sure|certainly|of course|thanks|thank you|you(?:'|’)re welcome|good (?:morning|afternoon|evening|question)|great question|i(?:'|’)m (?:happy|glad|sorry|afraid|here)|yes|no|overall|in summary)\b/i;
const courtesyWordsMax = 6;
const offer =
  /^(?:i hope\b|please (?:let me know|ask|feel free)|let me know|feel free|happy to help|if you (?:have|need|want|would like) (?:any|more|further|to know))/i;

const documents = '(?:documents?|passages?|sources?|context|excerpts?|material|information)';
/** What the draft says about the documents themselves cannot stand in them. */
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
  // Code alone states nothing.
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
