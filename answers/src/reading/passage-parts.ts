import { stopWords, words } from '../retrieval/stop-words.ts';
import { evenSpaces } from './blocks.ts';

/** The smallest part of a passage that can be quoted: a sentence, a list item, a table row, or a line of code. */
export interface Unit {
  readonly kind: 'sentence' | 'item' | 'row' | 'code';
  /** An item has its number, but no bullet. A line of code has the empty lines below it. */
  readonly text: string;
  readonly words: number;
  /** Units of the same paragraph, list, table or code block share a number. */
  readonly group: number;
  /** Header and rule of a row's table, or the fence above code. */
  readonly header?: string | undefined;
}

const marker = /^\s{0,40}(?:[-*•‣–]|\d{1,4}[.)]) /;
const bullet = /^\s*[-*•‣–] /;
const fence = /^`{3,}$/;
const tableRule = /^\|(?: :?-{3,}:? \|)+$/;
const codeLine = /[^\n]+(?:\n(?=\n))*/g;

/** The units of a passage's text, in order. Takes linear time. */
export function splitUnits(text: string): Unit[] {
  const lines = text.split(/\r\n?|\n/);
  const lastFence = new Map(lines.flatMap((line, at) => (fence.test(line) ? [[line, at] as const] : [])));
  const classifyLine = (line: string, at: number): Unit['kind'] | undefined => {
    if (at < (lastFence.get(line) ?? -1)) return 'code';
    if (line.startsWith('|') && tableRule.test(lines[at + 1] ?? '')) return 'row';
    return marker.test(line) ? 'item' : line.trim() === '' ? undefined : 'sentence';
  };
  const units: Unit[] = [];
  for (let at = 0; at < lines.length; ) {
    const group = at;
    const first = lines[group]!;
    const kind = classifyLine(first, group);
    if (kind === 'code') at = lines.indexOf(first, group + 1);
    else if (kind === 'row') while (lines[at + 1]?.startsWith('|')) at += 1;
    else while (at + 1 < lines.length && classifyLine(lines[at + 1]!, at + 1) === kind) at += 1;
    at += 1;
    if (kind === undefined) continue;
    const [texts, header] = splitTexts(kind, lines.slice(group, at));
    for (const text of texts) units.push({ kind, text, words: countWords(text), group, header });
  }
  return units;
}

/** The units of a paragraph, list, table or code block, with the header or fence of each. */
function splitTexts(
  kind: Unit['kind'],
  lines: readonly string[],
): [texts: readonly string[], header?: string] {
  if (kind === 'code') return [lines.slice(1, -1).join('\n').match(codeLine) ?? [], lines[0]!];
  if (kind === 'row') return [lines.slice(2), lines.slice(0, 2).join('\n')];
  if (kind === 'item') return [lines.map((line) => evenSpaces(line.replace(bullet, '')))];
  return [splitProse(lines.join('\n'))];
}

/** Markdown of some units of a passage. `write` may change the text of each. */
export function joinUnits(units: readonly Unit[], write?: (unit: Unit) => string): string {
  return (
    chooseSeparator(undefined, units[0]) +
    joinedUnits(units, write) +
    chooseSeparator(units.at(-1), undefined)
  );
}

/** Units as they stand in the passage: without a header or fence above the first or below the last. */
export function joinedUnits(units: readonly Unit[], write = ({ text }: Unit) => text): string {
  const parts = units.map((unit, at) => {
    const joint = at === 0 ? '' : chooseSeparator(units[at - 1], unit);
    return `${joint}${formatBullet(unit)}${write(unit)}`;
  });
  return parts.join('');
}

/** What is between two units, above the first, or below the last. */
function chooseSeparator(before: Unit | undefined, unit: Unit | undefined): string {
  if (before !== undefined && before.group === unit?.group && before.header === unit.header) {
    if (unit.kind !== 'sentence') return '\n';
    return ideographicEnd.test(before.text) ? '' : ' ';
  }
  const closing = before?.kind === 'code' ? `\n${before.header}` : '';
  const opening = unit?.header === undefined ? '' : `${unit.header}\n`;
  return `${closing}${before && unit ? '\n\n' : ''}${opening}`;
}

/** Numbered items have their number in the text. */
function formatBullet({ kind, text }: Unit): string {
  return kind === 'item' && !/^\d{1,4}[.)] /.test(text) ? '- ' : '';
}

/** The units of a text as sentences with single spaces. */
export function splitSentences(text: string): string[] {
  const sentences = splitUnits(text).map((unit) => evenSpaces(withoutTable(unit).text));
  return sentences.filter((sentence) => sentence !== '');
}

/** A table row as the item 'Header: cell; Header: cell', without empty cells. Other units are returned unchanged. */
export function withoutTable(unit: Unit): Unit {
  if (unit.kind !== 'row') return unit;
  const [header, cells] = [splitCells(headerLine(unit)), splitCells(unit.text)];
  // Two cells without a header are a name and its value: 'Name: value'.
  const isPair = cells.length === 2 && cells.every(Boolean) && header.every((label) => label === '');
  const pairs = isPair ? [cells] : cells.map((cell, column) => [header[column] ?? '', cell]);
  const parts = pairs.map(([label = '', cell = '']) =>
    cell === '' || label === '' || label === cell ? cell : `${label.replace(/ ?:$/, '')}: ${cell}`,
  );
  const text = parts.filter((part) => part !== '').join('; ');
  return { kind: 'item', text, words: countWords(text), group: unit.group };
}

/** The labels of a row's columns, or the fence above code. */
export function headerLine({ header = '' }: Unit): string {
  return header.split('\n')[0]!;
}

export function splitProse(prose: string): string[] {
  const ends = sentenceEnds(prose);
  return ends.map((end, at) => evenSpaces(prose.slice(ends[at - 1] ?? 0, end))).filter((one) => one !== '');
}

export function tableText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const formatRow = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [header, header.map(() => '---'), ...rows].map(formatRow).join('\n');
}

export function splitCells(line: string): string[] {
  return line
    .replace(/^\s*\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const ideographs = '\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff';
/** So that lengths are similar, two characters of a script without spaces are a word, and a very long word is several. */
const countedWord = new RegExp(`[${ideographs}]{1,2}|[^\\s${ideographs}]{1,30}`, 'g');

export function countWords(text: string): number {
  return text.match(countedWord)?.length ?? 0;
}

const stops = '.!?…';
const ideographicStops = '。！？｡．';
const closers = `"'”’»›)\\]}*_\`」』）】》〉］｝〕`;
/** Stops with what belongs to the sentence before them: quotes, brackets, and citations such as `[3]`. */
const possibleEnd = new RegExp(
  `(?<![${stops}])[${stops}]+[${closers}]*(?: ?\\[\\d{1,4}\\](?=[\\s[.,;:)]|$))*(?=\\s|$)|[${ideographicStops}]+[${closers}]*`,
  'g',
);
/** No space follows such a sentence. */
const ideographicEnd = new RegExp(`[${ideographicStops}][${closers}]*$`);
const opening = /^["'“‘«‹([{*_`¿¡「『（【《〈［｛〔]*/;

/**
 * Finds where the sentences of running text end: offsets after their last characters. Takes linear time.
 * (`Intl.Segmenter` would split at abbreviations, within URLs, and before `**` and `[1]`.)
 */
export function sentenceEnds(prose: string): number[] {
  const ends: number[] = [];
  for (const { 0: stop, index } of prose.matchAll(possibleEnd)) {
    const end = index + stop.length;
    if (!continues(prose, ends.at(-1) ?? 0, index, stop)) ends.push(end);
  }
  if ((ends.at(-1) ?? 0) < prose.length) ends.push(prose.length);
  return ends;
}

function continues(prose: string, start: number, at: number, stop: string): boolean {
  if (ideographicStops.includes(stop.charAt(0))) return false;
  const next = prose
    .slice(at + stop.length, at + stop.length + 60)
    .trimStart()
    .replace(opening, '');
  if (/^\p{Ll}/u.test(next)) return true;
  if (stop !== '.' || next === '') return false;
  const before = /[\p{L}\p{M}\p{N}.&]*$/u.exec(prose.slice(Math.max(start, at - 24), at))?.[0] ?? '';
  // The number of a list item.
  if (/^\d{1,3}$/.test(before)) return prose.slice(start, at).trimStart() === before;
  return isAbbreviation(before, /^[\p{L}\p{N}’']*/u.exec(next)?.[0] ?? '');
}

/** A name or a phrase always follows these. */
const neverLast = words(`dr mr mrs ms prof rev hon gen col capt lt sgt sen rep gov pres fr st mt messrs mme
  mlle e.g i.e eg ie cf viz vs v resp incl excl approx ca`);

/** Abbreviations only before a number: `No. 5`, but `No. It is not.` */
const beforeNumber = words(`no nos nr num fig figs eq eqs sec secs ch chap vol pp p pt art para app ver ext
  tel ref ed jan feb mar apr jun jul aug sep sept oct nov dec § min max`);

/** These may end a sentence, as initials may. */
const sometimesLast = words('inc ltd co corp llc plc gmbh bros dept univ assn ave blvd rd jr sr ph.d m.d al');

/** Whether the full stop between two words belongs to the first. */
function isAbbreviation(before: string, following: string): boolean {
  const word = before.toLowerCase();
  if (neverLast.has(word)) return true;
  if (beforeNumber.has(word)) return /^(?:\d|[IVXLC]+$)/.test(following);
  // `J`, `U.S`, `z.B`: single letters with full stops between them. `I` alone is a word.
  const isInitial =
    before !== 'I' && !/^[ap]\.m$/.test(word) && /^(?:\p{Lu}|\p{L}(?:\.\p{L})+)$/u.test(before);
  const canBeLast = isInitial || sometimesLast.has(word);
  // A stop word after it more often starts a sentence than continues a name.
  return canBeLast && following !== '' && !stopWords.has(following.toLowerCase());
}
