import { sentenceEnds } from '../reading/sentences.ts';
import { stopWords } from '../retrieval/stop-words.ts';
import { wordsOf } from '../retrieval/terms.ts';

/** A piece of a draft. All pieces one after the other are the draft, less its marks. */
export interface Piece {
  readonly text: string;
  /** Whether it says something that documents could say too. */
  readonly isStatement: boolean;
  /** The passages it cites, counted from 1, in order. */
  readonly marks: readonly number[];
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const lineStart = /^\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?/;
const heading = /^\s{0,3}#{1,6}\s/;
const tableRule = /^[\s|:-]+$/;

/** Splits a draft, in Markdown, into statements and what stands between them. Code is left as it is. */
export function* piecesOf(draft: string): Generator<Piece> {
  let fenced: string | undefined;
  let paragraph = '';
  for (const line of draft.split(/(?<=\n)/)) {
    const mark = fence.exec(line)?.[1];
    const isCode = fenced !== undefined || mark !== undefined;
    // A line that goes on in the middle of a sentence is one with the line before.
    if (paragraph !== '' && (isCode || !/^\p{Ll}/u.test(line))) {
      yield* piecesOfParagraph(paragraph);
      paragraph = '';
    }
    if (!isCode) {
      paragraph += line;
      continue;
    }
    yield between(line);
    if (fenced === undefined) fenced = mark;
    else if (mark?.startsWith(fenced)) fenced = undefined;
  }
  if (paragraph !== '') yield* piecesOfParagraph(paragraph);
}

function* piecesOfParagraph(line: string): Generator<Piece> {
  const trimmed = line.trimEnd();
  const start = lineStart.exec(trimmed)![0];
  const { text, marks } = withoutMarks(trimmed.slice(start.length));
  const plain = heading.test(line) || tableRule.test(line);
  if (start !== '') yield between(start);
  const ends = sentenceEnds(text);
  let from = 0;
  let taken = 0;
  for (const to of ends) {
    let upTo = taken;
    while (upTo < marks.length && (to === text.length || marks[upTo]!.at <= to)) upTo++;
    const sentence = text.slice(from, to).trimStart();
    if (sentence.length < to - from) yield between(text.slice(from, to - sentence.length));
    yield {
      text: sentence,
      isStatement: !plain && isStatement(sentence),
      marks: marks.slice(taken, upTo).map(({ passage }) => passage),
    };
    from = to;
    taken = upTo;
  }
  if (trimmed.length < line.length) yield between(line.slice(trimmed.length));
}

function between(text: string): Piece {
  return { text, isStatement: false, marks: [] };
}

/** Not a link, and not an index of something: `[2](…)`, `list[0]`. */
const citation = /`[^`\n]*`|\s*\[\^?(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?!\()/g;

function withoutMarks(line: string): { text: string; marks: { at: number; passage: number }[] } {
  const marks: { at: number; passage: number }[] = [];
  let text = '';
  let from = 0;
  for (const match of line.matchAll(citation)) {
    if (match[1] === undefined || /^0+$/.test(match[1])) continue;
    text += line.slice(from, match.index);
    from = match.index + match[0].length;
    for (const passage of match[1].split(/[,;]/)) marks.push({ at: text.length, passage: Number(passage) });
  }
  return { text: text + line.slice(from), marks };
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
  if (/[?:]["”*_)]*$/.test(sentence.trimEnd()) || offer.test(text)) return false;
  if (aboutTheDocuments.some((pattern) => pattern.test(text))) return false;
  const words = wordsOf(text);
  if (courtesy.test(text) && words.length <= courtesyWordsMax) return false;
  return words.filter((word) => !stopWords.has(word)).length >= contentWordsMin;
}
