import { words } from '../retrieval/stop-words.ts';

/** Not a link: `[2](…)`. */
const bracket = String.raw`\[\^?(?!0+\])\d{1,3}(?: {0,2}[,;] {0,2}\d{1,3})*\](?!\()`;
const joint = ' {0,2}(?:[,;&]|,? (?:and|or))? {0,2}';
/** What an index follows: `a[1]`, `user_ids[1]`, `f(x)[1]`. After other words, many models write no space before a citation. */
const indexed = String.raw`(?<![\w.])(?:[A-Za-z]|[A-Za-z\d]+_\w+|\w+\([^\s()]*\))|\]`;
const citation = new RegExp(`(?<!${indexed})${bracket}(?:${joint}${bracket})*`, 'g');

/** A citation in a draft, or several in a row: `[1]`, `[2][3]`, `[1] and [2]`. */
export type Citation = ReturnType<typeof citationsIn>[number];

/** The citations in a text, in order, except within inline code. Takes time linear in the text. */
export function citationsIn(text: string) {
  return Array.from(withoutCode(text).matchAll(citation), ({ 0: group, index: from }) => {
    const to = from + group.length;
    const isWord = isPartOfSentence(text, from, to);
    const extent = isWord ? { from, to } : findRemoval(text, from, to);
    /** Numbers of passages, from 1, in order. */
    const passages = group.match(/\d+/g)!.map(Number);
    return { ...extent, isWord, passages };
  });
}

/** Neither a letter nor a space: a sentence may begin and end with it. */
const filler = '\ue000';
/** Nobody uses more backticks. Without a limit, finding inline code would not take linear time. */
const inlineCode = /(?<![\\`])(`{1,9})(?!`).*?(?<!`)\1(?!`)/gs;

/** The text with filler in place of its inline code. */
export function withoutCode(text: string): string {
  return text.replace(inlineCode, ({ length }) => filler.repeat(length));
}

export function replaceCitations(
  text: string,
  citations: readonly Citation[],
  replacement: (citation: Citation) => string,
): string {
  const starts = [0, ...citations.map(({ to }) => to)];
  const between = starts.map((start, at) => text.slice(start, citations[at]?.from));
  return between.map((piece, at) => (at === 0 ? piece : replacement(citations[at - 1]!) + piece)).join('');
}

/** The text with spaces in place of its citations, or filler where the sentence needs one. */
export function blankCitations(text: string, citations: readonly Citation[]): string {
  return replaceCitations(text, citations, ({ from, to, isWord }) =>
    (isWord ? filler : ' ').repeat(to - from),
  );
}

const sentenceEnd = /(?:(?: …|[.!?…。！？]+)["”’»)*_]*)?$/;
const sentenceEndLengthMax = 200;
/** The bars that end a table row, after empty cells too. Takes linear time. */
const rowEnd = /(?<=\\\||[^\s|\\])[\s|]*\|$|$/;

/** `… 30 days [1].` In a table row: `| Norway | €12 [1] |` */
export function withMarks(text: string, numbers: readonly number[]): string {
  if (numbers.length === 0) return text;
  const { index: cellEnd } = rowEnd.exec(text)!;
  const cell = text.slice(0, cellEnd);
  const end = sentenceEnd.exec(cell.slice(-sentenceEndLengthMax))![0];
  const body = cell.slice(0, cell.length - end.length).trimEnd();
  return `${body} ${numbers.map((number) => `[${number}]`).join('')}${end}${text.slice(cellEnd)}`;
}

/** What is removed with a citation: its parentheses, and the spaces before it (after it where it begins the line). */
function findRemoval(line: string, from: number, to: number): { from: number; to: number } {
  const isEnclosed = line[from - 1] === '(' && line[to] === ')';
  const before = line.slice(0, isEnclosed ? from - 1 : from).trimEnd();
  const after = line.slice(isEnclosed ? to + 1 : to);
  const rest = before === '' ? after.trimStart() : after;
  return { from: before.length, to: line.length - rest.length };
}

const leadsOn = words(`to in of by from per via under with see as both on at for than cf also and or nor read
  check consult compare cites quotes between against unlike like is are document documents source sources
  passage passages reference references excerpt excerpts citation citations footnote footnotes section
  sections`);
const leadsOnWithWords = words(`that while whereas although though if when where but because since says said
  mentions confirms contradicts supports follows replaces supersedes amends updates extends overrides repeats`);
const says =
  /^\s+(?:say|state|explain|mention|note|describe|confirm|specif(?:y|ie)|add|write|define|list|show|suggest)e?s?\b/;
const readBefore = 40;

/** Whether the sentence is incomplete without the citation: `As [1] says, …` */
function isPartOfSentence(line: string, from: number, to: number): boolean {
  const before = line.slice(0, from).trimEnd().slice(-readBefore);
  const after = line.slice(to, to + readBefore);
  const isFollowed = /^\s+["“(*_]*\p{L}/u.test(after);
  const word = /(\p{L}+)["“(*_]*$/u.exec(before)?.[1]?.toLowerCase() ?? '';
  if (leadsOn.has(word) || (isFollowed && leadsOnWithWords.has(word))) return true;
  if (/^$|[.!?…:][)"”’*_]*$/.test(before)) return /^\s+\p{Ll}/u.test(after);
  return /[,;–—-]$/.test(before) && says.test(after);
}
