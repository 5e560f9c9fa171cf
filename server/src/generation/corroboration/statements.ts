import { sentenceEnds } from '../reading/sentence-ends.ts';
import { stopWords } from '../retrieval/stop-words.ts';
import { wordsOf } from '../retrieval/terms.ts';
import { citationsIn } from './citations.ts';

/** A citation that keeps its place: one that the sentence needs, or one in a cell of a table. */
export interface KeptMark {
  /** Where in the piece's text. A `placeholder` stands there for one that the sentence needs. */
  readonly at: number;
  readonly passages: readonly number[];
  readonly isWord: boolean;
}

/** A piece of a draft. All pieces one after the other are the draft, less its marks. */
export interface Piece {
  readonly text: string;
  /** Whether it says something that documents could say too. */
  readonly isStatement: boolean;
  readonly isRow: boolean;
  /** The passages it cites, counted from 1, in order. */
  readonly marks: readonly number[];
  readonly kept: readonly KeptMark[];
}

/** Neither a letter nor a blank: a sentence may begin and end with it. */
export const placeholder = '\ue000';

const fence = /^ {0,3}(`{3,}|~{3,})/;
const lineStart = /^\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?/;
const heading = /^\s{0,3}#{1,6}\s/;
const tableRule = /^[\s|:-]+$/;
const tableRow = /^[\s>]*\|/;

/** What is read at once. A paragraph that is longer is read in parts, so that nobody waits for it. */
const paragraphLengthMax = 10_000;

/** Splits a draft, in Markdown, into statements and what stands between them. Code is left as it is. */
export function* piecesOf(draft: string): Generator<Piece> {
  let fenced: string | undefined;
  let paragraph: string[] = [];
  let length = 0;
  for (const { text, isWhole } of linesOf(draft)) {
    const mark = isWhole ? fence.exec(text)?.[1] : undefined;
    const isCode = fenced !== undefined || mark !== undefined;
    if (paragraph.length > 0 && (isCode || !goesOn(paragraph[0]!, length, text))) {
      yield* piecesOfParagraph(paragraph.join(''));
      paragraph = [];
      length = 0;
    }
    if (!isCode) {
      paragraph.push(text);
      length += text.length;
      continue;
    }
    yield between(text);
    if (fenced === undefined) fenced = mark;
    else if (mark?.startsWith(fenced)) fenced = undefined;
  }
  if (paragraph.length > 0) yield* piecesOfParagraph(paragraph.join(''));
}

/** A line that goes on in the middle of a sentence is one with the line before. */
function goesOn(first: string, length: number, line: string): boolean {
  return /^\p{Ll}/u.test(line) && length + line.length <= paragraphLengthMax && !tableRow.test(first);
}

function* linesOf(draft: string): Generator<{ text: string; isWhole: boolean }> {
  let from = 0;
  while (from < draft.length) {
    const newline = draft.indexOf('\n', from);
    const end = newline === -1 ? draft.length : newline + 1;
    const isWhole = end - from <= paragraphLengthMax;
    while (end - from > paragraphLengthMax) {
      const blank = draft.lastIndexOf(' ', from + paragraphLengthMax - 1);
      const cut = blank > from ? blank + 1 : from + paragraphLengthMax;
      yield { text: draft.slice(from, cut), isWhole };
      from = cut;
    }
    yield { text: draft.slice(from, end), isWhole };
    from = end;
  }
}

function* piecesOfParagraph(line: string): Generator<Piece> {
  const trimmed = line.trimEnd();
  if (trimmed === '') return yield between(line);
  const start = lineStart.exec(trimmed)![0];
  const isRow = tableRow.test(trimmed);
  const { text, marks } = withoutMarks(trimmed.slice(start.length), isRow);
  const plain = heading.test(line) || tableRule.test(line);
  if (start !== '') yield between(start);
  let from = 0;
  let taken = 0;
  for (const to of isRow ? [text.length] : sentenceEnds(text)) {
    let upTo = taken;
    while (upTo < marks.length && (to === text.length || endOf(marks[upTo]!) <= to)) upTo++;
    const sentence = text.slice(from, to).trimStart();
    const begin = to - sentence.length;
    if (begin > from) yield between(text.slice(from, begin));
    const own = marks.slice(taken, upTo);
    yield {
      text: sentence,
      isStatement: !plain && isStatement(sentence),
      isRow,
      marks: own.flatMap(({ passages }) => passages),
      kept: own.filter(({ isKept }) => isKept).map((mark) => ({ ...mark, at: mark.at - begin })),
    };
    from = to;
    taken = upTo;
  }
  if (trimmed.length < line.length) yield between(line.slice(trimmed.length));
}

function between(text: string): Piece {
  return { text, isStatement: false, isRow: false, marks: [], kept: [] };
}

interface Mark extends KeptMark {
  readonly isKept: boolean;
}

function endOf({ at, isWord }: Mark): number {
  return isWord ? at + placeholder.length : at;
}

function withoutMarks(line: string, isRow: boolean): { text: string; marks: Mark[] } {
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
    marks.push({ at: length, passages, isWord, isKept: isWord || isRow });
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

const ofTheDocuments = '(?:documents?|passages?|sources?|context|excerpts?|material|information)';
/** What the draft says about the documents themselves cannot stand in them. */
const aboutTheDocuments = [
  new RegExp(
    `^(?:however,? |but |unfortunately,? )?(?:the|these|your|our|none of the) (?:provided |given |available |found )?${ofTheDocuments} (?:do(?:es)?(?: not|n['’]t)|did(?: not|n['’]t)|cannot|contains? no|ha(?:s|ve) no|says? nothing|mentions? (?:no|nothing)|answers?)`,
    'i',
  ),
  /\b(?:i|we) (?:could|can|did|do)(?: not|n['’]t) (?:find|see|locate|know|have|tell|answer)\b|\b(?:i|we) cannot (?:find|tell|answer)\b/i,
  new RegExp(
    `\\b(?:nothing|no (?:information|mention|answer|details?))\\b[^.]{0,60}\\b${ofTheDocuments}\\b`,
    'i',
  ),
  new RegExp(
    `\\bnot (?:mentioned|covered|stated|specified|described|found) (?:in|by) (?:the|any|these|your)\\b[^.]{0,40}\\b${ofTheDocuments}\\b`,
    'i',
  ),
  /^the closest documents? (?:is|are)\b/i,
];
const contentWordsMin = 2;

function isStatement(sentence: string): boolean {
  const text = sentence
    .trim()
    .replace(/^[*_"“(]+/, '')
    .slice(0, 400);
  if (!/[\p{L}\p{N}]/u.test(text)) return false;
  if (/[?:]["”*_)]*$/.test(sentence.trimEnd()) || offer.test(text)) return false;
  if (aboutTheDocuments.some((pattern) => pattern.test(text))) return false;
  const words = wordsOf(text);
  if (courtesy.test(text) && words.length <= courtesyWordsMax) return false;
  return words.filter((word) => !stopWords.has(word)).length >= contentWordsMin;
}
