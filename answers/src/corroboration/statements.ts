import MarkdownIt from 'markdown-it';
import { sentenceEnds } from '../reading/passage-parts.ts';
import { stopWords } from '../retrieval/stop-words.ts';
import { splitWords } from '../retrieval/terms.ts';
import { blankCitations, type Citation, citationsIn, withoutCode } from './citations.ts';

/** A piece of a draft. The pieces in order are the draft. */
export interface Piece {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** Whether it states something that documents could confirm. */
  readonly isStatement: boolean;
  readonly isRow: boolean;
  /** The passages that it cites, by number from 1, each once. */
  readonly cites: readonly number[];
}

const markdown = new MarkdownIt();
/** The blocks with sentences. All others, such as code, are text between statements. The header of a table is a heading. */
const kinds = new Map([
  ['paragraph_open', 'text'],
  ['tr_open', 'row'],
  ['heading_open', 'heading'],
  ['thead_open', 'heading'],
]);

const lineStart = /^\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?/;

/** Splits a Markdown draft into statements and the text between them. */
export function* splitPieces(draft: string): Generator<Piece> {
  const lines = draft.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const joinLines = (from: number, to?: number) => lines.slice(from, to).join('');
  const tokens: ReturnType<typeof markdown.parse> = [];
  markdown.block.parse(draft.replaceAll('\r', ' '), markdown, {}, tokens);
  let next = 0;
  for (const { type, map } of tokens) {
    const kind = kinds.get(type);
    // The row of a header has been read with the header.
    if (kind === undefined || map === null || map[0] < next) continue;
    const block = joinLines(...map);
    const text = block.trimEnd();
    yield* between(joinLines(next, map[0]));
    yield* cut(text, kind === 'row' ? [text.length] : statementEnds(text), lineStart, kind);
    yield* between(block.slice(text.length));
    next = map[1];
  }
  yield* between(joinLines(next));
}

/** The ends of sentences with their citations, and of lines unless the next one starts with a lowercase letter. */
function statementEnds(text: string): number[] {
  const citations = citationsIn(text);
  const prose = withoutCode(blankCitations(text, citations));
  // Space by space, since a lookahead over white space at every line end would take quadratic time.
  const lineEnds = [...prose.matchAll(/(\s+)(\p{Ll}?)/gu)].flatMap(({ 1: space, 2: next, index }) =>
    next === '' ? [...space!.matchAll(/\n/g)].map((end) => index + end.index) : [],
  );
  const following = new Map(citations.map(({ from, to, isWord }) => [from, isWord ? from : to]));
  const ends = [...sentenceEnds(prose), ...lineEnds].map((end) => following.get(end) ?? end);
  return [...new Set(ends)].sort((a, b) => a - b);
}

/** The pieces of a text up to each end, and the gaps between them. The last end is the end of the text. */
function* cut(text: string, ends: readonly number[], gap: RegExp, kind: string): Generator<Piece> {
  for (const [at, end] of ends.entries()) {
    const part = text.slice(ends[at - 1] ?? 0, end);
    const before = gap.exec(part)![0];
    const own = part.slice(before.length);
    const citations = citationsIn(own);
    yield* between(before);
    yield {
      text: own,
      citations,
      isStatement: kind !== 'heading' && isStatement(blankCitations(own, citations)),
      isRow: kind === 'row',
      cites: [...new Set(citations.flatMap(({ passages }) => passages))],
    };
  }
}

function* between(text: string): Generator<Piece> {
  if (text !== '') yield { text, citations: [], isStatement: false, isRow: false, cites: [] };
}

const clauseEnd = /; |, (?=(?:and|but|while|whereas|although|though|so|yet)\s)| [–—] /g;
const clausesMax = 8;

/**
 * The clauses of a sentence and the text between them, if they can be checked one by one: each ends with its citation, or
 * where another clause begins. A clause without a citation is covered by the next one.
 */
export function splitClauses({ text, citations }: Piece): Piece[] {
  const prose = blankCitations(text, citations);
  const possible = new Set([
    ...citations.filter(({ isWord }) => !isWord).map(({ to }) => to),
    ...[...withoutCode(prose).matchAll(clauseEnd)].map(({ index }) => index),
  ]);
  if (possible.size > clausesMax) return [];
  const ends: number[] = [];
  for (const end of [...possible].sort((a, b) => a - b)) {
    if (isStatement(prose.slice(ends.at(-1) ?? 0, end)) && isStatement(prose.slice(end))) ends.push(end);
  }
  if (ends.length === 0) return [];
  const clauses = [...cut(text, [...ends, text.length], /^[\s,;–—]*/, 'text')];
  return clauses.map((clause, at) => {
    const cites = clauses.slice(at).find((one) => one.cites.length > 0)?.cites ?? [];
    return { ...clause, cites };
  });
}

/** Greetings, thanks and offers state nothing. */
const courtesy =
  /^(?:(?:hi|hello|hey|dear|sure|certainly|of course|thanks|thank you|no problem|you['’]re welcome|i['’]m (?:afraid|glad|happy|here|sorry)|(?:good|great) (?:question|morning|afternoon|evening))(?:,? [\p{L}'’]+){0,5}[!,.]*$|i hope\b|please (?:let me know|ask|feel free)|let me know|feel free|happy to help|if you (?:have|need|want|would like) (?:any|more|further|to know))/iu;

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
  if (!/[\p{L}\p{N}]/u.test(withoutCode(start))) return false;
  const text = start.replace(/^[*_"“(]+/, '');
  if (/[?:]["”*_)]*$/.test(sentence.slice(-20).trimEnd()) || courtesy.test(text)) return false;
  if (aboutTheDocuments.test(text)) return false;
  return splitWords(text).filter((word) => !stopWords.has(word)).length >= contentWordsMin;
}
