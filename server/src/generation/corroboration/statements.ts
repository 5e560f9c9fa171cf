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

const courtesy =
  /^(?:hi|hello|hey|dear|sure|certainly|of course|thanks|thank you|you're welcome|good (?:morning|afternoon|evening|question)|great question|i hope|let me know|feel free|happy to|i(?:'m| am) (?:happy|glad|sorry|afraid|here)|please (?:let me know|note|ask)|if you (?:have|need) (?:any|more|further)|here (?:is|are|'s)|based on|according to the (?:documents|passages)[.:]?$|in summary:?$|yes[.,!]?$|no[.,!]?$|overall:?$)/i;
const aboutTheDocuments =
  /\b(?:documents?|passages?|sources?|context|excerpts?|library|provided (?:information|material|text))\b[^.]{0,80}\b(?:do(?:es)? not|don['’]t|doesn['’]t|did not|cannot|no|nothing|none)\b|\b(?:could|can|did|do)(?: not|n['’]t) (?:find|see|locate|know|have|tell)\b|\b(?:nothing|no (?:information|mention|answer|details?))\b[^.]{0,60}\b(?:documents?|passages?|sources?|found|context)\b|\b(?:is|are|was|were) not (?:mentioned|covered|stated|specified|described)\b/i;
const contentWordsMin = 2;

function isStatement(sentence: string): boolean {
  const text = sentence.trim().replace(/^[*_"“(]+/, '');
  if (/[?:]["”*_)]*$/.test(text) || courtesy.test(text) || aboutTheDocuments.test(text.slice(0, 400)))
    return false;
  return wordsOf(text).filter((word) => !stopWords.has(word)).length >= contentWordsMin;
}
