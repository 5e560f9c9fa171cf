import { limits } from '../../domain/limits.ts';
import { type Block, listMarker } from './blocks.ts';
import { LineJoiner } from './join-lines.ts';

/** A line of a page. Positions grow upwards, in points. */
export interface Line {
  readonly text: string;
  readonly page: number;
  readonly x: number;
  readonly y: number;
  /** The size of its largest letters. */
  readonly size: number;
}

/** A piece of a line, as the parser reports it. */
export interface Run {
  readonly str: string;
  readonly transform: readonly number[];
  readonly height: number;
  readonly hasEOL: boolean;
}

const headingRatio = 1.15;
const paragraphGapRatio = 1.3;
const sameLineRatio = 0.5;
/** A page has columns if more of its lines than this are beside another. */
const columnsRatio = 0.1;
/** A line at the top or bottom of this many pages is a running header or footer. */
const repetitionsMin = 3;
const marker = /^(?:[-*•‣▪●◦–·]|\d{1,2}[.)]) +(?=\S)/;
const sentenceEnd = /[.!?:]["”’)]?$/;
const pageNumber = /^(?:page )?[-–— ]*\d{1,5}[-–— ]*(?:(?:\/|of) ?\d{1,5})?$/i;

export function linesOfPage(runs: readonly Run[], page: number): readonly Line[] {
  const lines: Line[] = [];
  let open: Run[] = [];
  for (const [index, run] of runs.entries()) {
    open.push(run);
    if (!run.hasEOL && index < runs.length - 1) continue;
    const printed = open.filter(({ str }) => str.trim() !== '');
    const [, , , , x = 0, y = 0] = printed[0]?.transform ?? [];
    const text = open.map(({ str }) => str).join('');
    const size = printed.reduce((most, { height }) => Math.max(most, height), 0);
    if (printed.length > 0) lines.push({ text: text.replace(/\s+/g, ' ').trim(), page, x, y, size });
    open = [];
  }
  return inReadingOrder(lines);
}

/** Browsers print some headings after the text. Pages with columns keep the order of the file. */
function inReadingOrder(lines: readonly Line[]): readonly Line[] {
  const sorted = lines.toSorted((one, other) => other.y - one.y);
  const isBeside = (line: Line, index: number) =>
    index > 0 && sorted[index - 1]!.y - line.y < line.size * sameLineRatio;
  return sorted.filter(isBeside).length > lines.length * columnsRatio ? lines : sorted;
}

/** Removes page numbers and running headers and footers. */
export function withoutRunningLines(pages: readonly (readonly Line[])[]): Line[] {
  const counts = new Map<string, number>();
  for (const line of pages.flatMap((lines) => [...edgesOf(lines)])) {
    counts.set(patternOf(line), (counts.get(patternOf(line)) ?? 0) + 1);
  }
  const least = Math.max(repetitionsMin, pages.length / 2);
  return pages.flatMap((lines) => {
    const edges = edgesOf(lines);
    const isRunning = (line: Line) =>
      (lines.length > 1 && pageNumber.test(line.text)) || (counts.get(patternOf(line)) ?? 0) >= least;
    return lines.filter((line) => !edges.has(line) || !isRunning(line));
  });
}

/** The lines at the top and at the bottom of a page. */
function edgesOf(lines: readonly Line[]): Set<Line> {
  const top = lines.reduce((most, { y }) => Math.max(most, y), Number.NEGATIVE_INFINITY);
  const bottom = lines.reduce((least, { y }) => Math.min(least, y), Number.POSITIVE_INFINITY);
  return new Set(lines.filter(({ y }) => y > top - 1 || y < bottom + 1));
}

function patternOf(line: Line): string {
  return line.text.replace(/\d+/g, '#').toLowerCase();
}

/** How a document is set: where its paragraphs and headings are follows from that. */
interface Setting {
  readonly bodySize: number;
  /** The distance between the lines of a paragraph, in sizes of its letters. */
  readonly leading: number;
  /** The sizes above the body's, largest first. */
  readonly headingSizes: readonly number[];
  readonly joiner: LineJoiner;
}

/** Groups lines into paragraphs, list items and headings by their sizes and positions. */
export function blocksOfLines(lines: readonly Line[]): Block[] {
  const setting = settingOf(lines);
  const groups: Line[][] = [];
  for (const line of lines) {
    const open = groups.at(-1);
    if (open !== undefined && continues(open, line, setting)) open.push(line);
    else groups.push([line]);
  }
  return groups.map((group) => blockOf(group, setting)).filter((block) => block.text !== '');
}

function settingOf(lines: readonly Line[]): Setting {
  const weights = new Map<number, number>();
  for (const line of lines) {
    weights.set(rounded(line.size), (weights.get(rounded(line.size)) ?? 0) + line.text.length);
  }
  const [[bodySize] = [0]] = [...weights].sort(([, one], [, other]) => other - one);
  const gaps = lines
    .map((line, index) => gapBetween(lines[index - 1], line) ?? 0)
    .filter((gap) => gap > 0 && gap < 3)
    .sort((one, other) => one - other);
  return {
    bodySize,
    // The lower third: with short paragraphs, almost half of the gaps are between paragraphs.
    leading: gaps[Math.floor(gaps.length / 3)] ?? 1.2,
    headingSizes: [...weights.keys()]
      .filter((size) => size > bodySize * headingRatio)
      .sort((one, other) => other - one),
    joiner: new LineJoiner(lines.map((line) => line.text)),
  };
}

function gapBetween(above: Line | undefined, line: Line): number | undefined {
  return above?.page === line.page && line.size > 0 ? (above.y - line.y) / line.size : undefined;
}

/** Whether a line belongs to the same block as the lines before it. */
function continues(open: readonly Line[], line: Line, setting: Setting): boolean {
  const previous = open.at(-1)!;
  const isNewSize = rounded(previous.size) !== rounded(line.size);
  if (isNewSize && (isHeading(line, setting) || isHeading(previous, setting))) return false;
  if (marker.test(line.text)) return false;
  const gap = gapBetween(previous, line);
  const endsSentence = sentenceEnd.test(previous.text);
  // On the next page or in the next column.
  if (gap === undefined || gap <= -0.2) return !endsSentence && /^[\p{Ll}\p{N}(]/u.test(line.text);
  if (gap > setting.leading * paragraphGapRatio) return false;
  const indent = (line.x - previous.x) / line.size;
  return marker.test(open[0]!.text) || !(indent > 0.8 && indent < 6) || !endsSentence;
}

function blockOf(group: readonly Line[], setting: Setting): Block {
  const text = setting.joiner.join(group.map((line) => line.text));
  if (isHeading(group[0]!, setting) && text.length <= limits.headingLengthMax.default) {
    const level = Math.min(setting.headingSizes.indexOf(rounded(group[0]!.size)) + 1, 6);
    return { kind: 'heading', level, text };
  }
  const [mark] = marker.exec(text) ?? [];
  if (mark === undefined) return { kind: 'paragraph', text };
  return { kind: 'item', marker: listMarker(mark), text: text.slice(mark.length) };
}

function isHeading(line: Line, setting: Setting): boolean {
  return rounded(line.size) > setting.bodySize * headingRatio && /\p{L}/u.test(line.text);
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}
