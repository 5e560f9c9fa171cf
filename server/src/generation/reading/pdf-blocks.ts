import { limits } from '../../domain/limits.ts';
import { type Block, listMarker } from './blocks.ts';
import { LineJoiner } from './join-lines.ts';
import type { Line } from './pdf-lines.ts';

const headingRatio = 1.15;
const headingLengthMax = limits.headingLengthMax.default;
const paragraphGapRatio = 1.3;
const marker = /^(?:[-*•‣▪●◦–·]|\d{1,2}[.)]) +(?=\S)/;

/** How the lines of a document are set, which tells where its paragraphs and headings are. */
interface Setting {
  readonly bodySize: number;
  /** Between one line and the next of a paragraph, in sizes of its letters. */
  readonly leading: number;
  /** Larger than running text, the largest first. */
  readonly headingSizes: readonly number[];
  readonly joiner: LineJoiner;
}

/** Paragraphs, list lines and headings again, from lines that only say where they stand. */
export function blocksOfLines(lines: readonly Line[]): Block[] {
  const setting = settingOf(lines);
  const groups: Line[][] = [];
  for (const line of lines) {
    const open = groups.at(-1);
    const previous = open?.at(-1);
    if (open !== undefined && previous !== undefined && goesOn(open, previous, line, setting))
      open.push(line);
    else groups.push([line]);
  }
  return groups.map((group) => blockOf(group, setting)).filter((block) => block.text !== '');
}

function settingOf(lines: readonly Line[]): Setting {
  const weights = new Map<number, number>();
  for (const line of lines)
    weights.set(rounded(line.size), (weights.get(rounded(line.size)) ?? 0) + line.text.length);
  const bodySize = [...weights].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
  const gaps = lines
    .flatMap((line, index) => gapsBetween(lines[index - 1], line))
    .filter((gap) => gap > 0 && gap < 3)
    .sort((one, other) => one - other);
  return {
    bodySize,
    // The lower third: a document of short paragraphs has almost as many gaps between them as within.
    leading: gaps[Math.floor(gaps.length / 3)] ?? 1.2,
    headingSizes: [...weights.keys()]
      .filter((size) => size > bodySize * headingRatio)
      .sort((one, other) => other - one),
    joiner: new LineJoiner(lines.map((line) => line.text)),
  };
}

function gapsBetween(above: Line | undefined, line: Line): number[] {
  return above?.page === line.page && line.size > 0 ? [(above.y - line.y) / line.size] : [];
}

function goesOn(open: readonly Line[], previous: Line, line: Line, setting: Setting): boolean {
  if (
    rounded(previous.size) !== rounded(line.size) &&
    isHeading(previous, setting) !== isHeading(line, setting)
  ) {
    return false;
  }
  if (isHeading(line, setting) && rounded(previous.size) !== rounded(line.size)) return false;
  if (marker.test(line.text)) return false;
  const [gap] = gapsBetween(previous, line);
  const isBelow = gap !== undefined && gap > -0.2;
  if (!isBelow) return !/[.!?:]["”’)]?$/.test(previous.text) && /^[\p{Ll}\p{N}(]/u.test(line.text);
  if (gap > setting.leading * paragraphGapRatio) return false;
  const isItem = marker.test(open[0]?.text ?? '');
  const isIndented = line.x - previous.x > line.size * 0.8 && line.x - previous.x < line.size * 6;
  return isItem || !isIndented || !/[.!?:]["”’)]?$/.test(previous.text);
}

function blockOf(group: readonly Line[], setting: Setting): Block {
  const text = setting.joiner.join(group.map((line) => line.text));
  const [first] = group;
  if (first !== undefined && isHeading(first, setting) && text.length <= headingLengthMax) {
    const level = Math.min(setting.headingSizes.indexOf(rounded(first.size)) + 1, 6);
    return { kind: 'heading', level, text };
  }
  const mark = marker.exec(text);
  if (mark === null) return { kind: 'paragraph', text };
  return { kind: 'item', marker: listMarker(mark[0]), text: text.slice(mark[0].length) };
}

function isHeading(line: Line, setting: Setting): boolean {
  return rounded(line.size) > setting.bodySize * headingRatio && /\p{L}/u.test(line.text);
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}
