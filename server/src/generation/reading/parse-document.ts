import { type DocumentText, storableTitle, storableUrl, UnreadableDocument } from '../../domain/document.ts';
import { defaultLimits, limits as fixed, type Limits } from '../../domain/limits.ts';
import { cutText } from '../../domain/text.ts';
import { type Block, checkTextLength, evenSpaces, type Reading } from './blocks.ts';
import { cleanText, declaredEncoding, decodeText } from './decode-text.ts';
import { bareName, formatOf } from './formats.ts';
import { readHtml } from './html.ts';
import { isManualSource, readManualPage } from './manual-page.ts';
import { readMarkdown } from './markdown.ts';
import { readPdf } from './pdf.ts';
import { readPlainText } from './plain-text.ts';
import { withQuestionHeadings } from './questions.ts';
import { splitPassages } from './split-passages.ts';

/** Reads a file in the calling thread. A hostile file can keep it busy for minutes. */
export async function parseDocument(
  name: string,
  bytes: Uint8Array,
  limits: Limits = defaultLimits,
): Promise<DocumentText> {
  const reading = await readingOf(name, bytes, limits);
  checkTextLength(lengthOf(reading.blocks), limits);
  const title = titleOf(reading, name);
  const passages = splitPassages(withQuestionHeadings(reading.blocks).flatMap(withShortHeading), title);
  if (passages.length === 0) throw new UnreadableDocument('holds no text');
  if (passages.length > limits.documentPassagesMax) {
    const most = limits.documentPassagesMax.toLocaleString('en');
    throw new UnreadableDocument(`has more than ${most} passages: split it`);
  }
  // Each passage is stored with the headings above it.
  checkTextLength(lengthOf(passages) + lengthOf(passages.map(({ heading }) => ({ text: heading }))), limits);
  return {
    title,
    url: storableUrl(reading.url ?? null),
    passages: passages.map(({ heading, text }) => ({ heading: cleanText(heading), text: cleanText(text) })),
  };
}

async function readingOf(name: string, bytes: Uint8Array, limits: Limits): Promise<Reading> {
  const format = formatOf(name);
  if (format === 'pdf') return readPdf(bytes, limits);
  if (format === 'html') return readHtml(decodeText(bytes, declaredEncoding(bytes)));
  const text = decodeText(bytes);
  checkTextLength(text.length, limits);
  if (format === 'markdown') return readMarkdown(text);
  return isManualSource(text) ? readManualPage(text) : readPlainText(text);
}

/** The title in the document's metadata, else its first heading of the first level, else the file's name. */
function titleOf(reading: Reading, name: string): string {
  const heading = reading.blocks.find((block) => block.kind === 'heading' && block.level === 1);
  const candidates = [reading.title, heading?.text, bareName(name)];
  const titles = candidates.map((text) => evenSpaces(cleanText(text ?? '')));
  return storableTitle(titles.find((text) => text !== '') ?? name);
}

/** A heading is stored with each passage below it, so a long one is cut, and kept once in full as a paragraph. */
function withShortHeading(block: Block): Block[] {
  const text = block.kind === 'heading' ? cutText(block.text, fixed.headingLengthMax.default) : block.text;
  return text === block.text
    ? [block]
    : [
        { ...block, text },
        { kind: 'paragraph', text: block.text },
      ];
}

function lengthOf(parts: readonly { readonly text: string }[]): number {
  return parts.reduce((length, { text }) => length + text.length, 0);
}
