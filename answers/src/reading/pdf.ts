import { type Block, checkTextLength, evenSpaces, type Reading } from './blocks.ts';
import { cleanText } from './decode-text.ts';
import { lineJoiner, marker, textBlock } from './plain-text.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { UnreadableDocument } from './unreadable-document.ts';

type Pdf = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>;

type Line = Awaited<ReturnType<typeof readLines>>[number];

/** Titles that programs write if the author gave none. */
const notATitle =
  /^(?:untitled|title|none|null|document\s*\d*|presentation\s*\d*|microsoft \w+ - .*|.*\.(?:docx?|pptx?|xlsx?|odt|rtf|tex|dvi|indd|qxd|pdf|html?|txt|md))$/i;

/** Reads the text of a PDF. Scanned pages have none. */
export async function readPdf(bytes: Uint8Array, limits: ReadingLimits): Promise<Reading> {
  // The parser is 1.7 MB of source, so it is loaded with the first PDF.
  const { getDocumentProxy } = await import('unpdf');
  let pdf: Pdf | undefined;
  try {
    // `verbosity: 0` keeps warnings about the file off the terminal.
    pdf = await getDocumentProxy(bytes, { verbosity: 0, disableFontFace: true });
    const { info } = await pdf.getMetadata();
    const blocks = parseBlocks(withoutRunningLines(await readPages(pdf, limits)), limits);
    if (blocks.length === 0) {
      throw new UnreadableDocument('contains no text: run text recognition (OCR) on scanned pages first');
    }
    return { title: statedTitle(info), blocks };
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(describeFault(error), { cause: error });
  } finally {
    await pdf?.loadingTask.destroy();
  }
}

function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return 'is damaged: the parser gave up';
  if (error.name === 'PasswordException') return 'is protected by a password';
  return `is damaged: ${evenSpaces(error.message.replace(/\.$/, ''))}`;
}

function statedTitle(info: object): string | undefined {
  const stated = 'Title' in info && typeof info.Title === 'string' ? evenSpaces(cleanText(info.Title)) : '';
  return /\p{L}/u.test(stated) && !notATitle.test(stated) ? stated : undefined;
}

async function readPages(pdf: Pdf, limits: ReadingLimits): Promise<(readonly Line[])[]> {
  const pages: (readonly Line[])[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const lines = await readLines(page);
    length += lines.reduce((sum, line) => sum + line.text.length, 0);
    checkTextLength(length, limits);
    pages.push(inReadingOrder(lines));
    page.cleanup();
  }
  return pages;
}

/** Positions grow upwards, in points. Sizes are of the largest letters, rounded to half points. */
async function readLines(page: Awaited<ReturnType<Pdf['getPage']>>) {
  const content = await page.getTextContent();
  const items = content.items.filter((item) => 'str' in item);
  const lines = [];
  let [str, y, size] = ['', 0, 0];
  for (const [at, item] of items.entries()) {
    if (str.trim() === '') [, , , , , y] = item.transform;
    str += cleanText(item.str);
    if (item.str.trim() !== '') size = Math.max(size, item.height);
    if (!item.hasEOL && at < items.length - 1) continue;
    const text = evenSpaces(str);
    if (text !== '') lines.push({ text, page: page.pageNumber, y, size: Math.round(size * 2) / 2 });
    [str, size] = ['', 0];
  }
  return lines;
}

/** A page has columns if more than this share of its lines is next to another line. */
const columnsRatio = 0.1;

/** Browsers print some headings after the text. Pages with columns keep the order of the file. */
function inReadingOrder(lines: readonly Line[]): readonly Line[] {
  const sorted = lines.toSorted((one, other) => other.y - one.y);
  const neighbors = sorted.filter(({ y, size }, at) => at > 0 && sorted[at - 1]!.y - y < size / 2);
  return neighbors.length > lines.length * columnsRatio ? lines : sorted;
}

/** A line at the top or bottom of this many pages is a running header or footer. */
const repetitionsMin = 3;
const pageNumber = /^(?:page )?[-–— ]*\d{1,5}[-–— ]*(?:(?:\/|of) ?\d{1,5})?$/i;

function withoutRunningLines(pages: readonly (readonly Line[])[]): Line[] {
  const toPattern = ({ text }: Line) => text.replace(/\d+/g, '#').toLowerCase();
  const edges = new Set(pages.flatMap(findEdges));
  const alike = Map.groupBy(edges, toPattern);
  const least = Math.max(repetitionsMin, pages.length / 2);
  return pages.flatMap((lines) =>
    lines.filter((line) => {
      if (!edges.has(line)) return true;
      const isNumber = lines.length > 1 && pageNumber.test(line.text);
      const same = alike.get(toPattern(line))!;
      // The first page may show the running text as a title.
      const isTitle = line.size > same[same.length >> 1]!.size * headingRatio;
      return !isNumber && (isTitle || same.length < least);
    }),
  );
}

function findEdges(lines: readonly Line[]): Line[] {
  const heights = lines.map(({ y }) => y).sort((one, other) => one - other);
  return lines.filter(({ y }) => y < heights[0]! + 1 || y > heights.at(-1)! - 1);
}

const headingRatio = 1.15;
const paragraphGapRatio = 1.3;

/** Groups lines into paragraphs, list items and headings by their sizes and positions. */
function parseBlocks(lines: readonly Line[], { headingLengthMax }: ReadingLimits): Block[] {
  const weights = new Map<number, number>();
  for (const { size, text } of lines) weights.set(size, (weights.get(size) ?? 0) + text.length);
  const [[bodySize] = [0]] = [...weights].sort(([, one], [, other]) => other - one);
  const sizes = [...weights.keys()].sort((one, other) => other - one);
  const isHeading = ({ size, text }: Line) => size > bodySize * headingRatio && /\p{L}/u.test(text);
  const leading = measureLeading(lines);
  const join = lineJoiner(lines.map(({ text }) => text));

  const groups: Line[][] = [];
  for (const line of lines) {
    const open = groups.at(-1);
    const previous = open?.at(-1) ?? line;
    const isOtherSize = previous.size !== line.size && (isHeading(line) || isHeading(previous));
    if (open !== undefined && !isOtherSize && continues(previous, line, leading)) open.push(line);
    else groups.push([line]);
  }
  return groups.map((group): Block => {
    const text = join(group.map((line) => line.text));
    if (!isHeading(group[0]!) || text.length > headingLengthMax) return textBlock(text);
    return { kind: 'heading', level: Math.min(sizes.indexOf(group[0]!.size) + 1, 6), text };
  });
}

/** The distance between the lines of a paragraph, in sizes of its letters. */
function measureLeading(lines: readonly Line[]): number {
  const gaps = lines
    .map((line, index) => gapBetween(lines[index - 1], line) ?? 0)
    .filter((gap) => gap > 0 && gap < 3)
    .sort((one, other) => one - other);
  // The lower third: with short paragraphs, almost half of the gaps are between paragraphs.
  return gaps[Math.floor(gaps.length / 3)] ?? 1.2;
}

function gapBetween(above: Line | undefined, line: Line): number | undefined {
  return above?.page === line.page && line.size > 0 ? (above.y - line.y) / line.size : undefined;
}

function continues(previous: Line, line: Line, leading: number): boolean {
  if (marker.test(line.text)) return false;
  const gap = gapBetween(previous, line);
  if (gap !== undefined && gap > -0.2) return gap <= leading * paragraphGapRatio;
  // On the next page or in the next column.
  return !/[.!?:]["”’)]?$/.test(previous.text) && /^[\p{Ll}\p{N}(]/u.test(line.text);
}
