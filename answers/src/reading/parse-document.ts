import { cutText } from '../../../runtime/src/pure/text.ts';
import { bareName } from '../retrieval/file-name.ts';
import { checkPassageCount, checkTextLength, evenSpaces, type Reading, termLevel } from './blocks.ts';
import { cleanText, declaredEncoding, decodeText } from './decode-text.ts';
import { detectFormat } from './formats.ts';
import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readPdf } from './pdf.ts';
import { readPlainText } from './plain-text.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { splitPassages } from './split-passages.ts';
import { UnreadableDocument } from './unreadable-document.ts';

/** Reads a file in the calling thread. A hostile file can keep it busy for minutes. */
export async function parseDocument(name: string, bytes: Uint8Array, limits: ReadingLimits) {
  const reading = await parseFormat(name, bytes, limits);
  const lengthRead = reading.blocks.reduce((length, { text }) => length + text.length, 0);
  checkTextLength(lengthRead, limits);
  const title = cutText(chooseTitle(reading, name), limits.documentTitleLengthMax);
  const passages = [];
  let length = 0;
  for (const { heading, text } of splitPassages(reading.blocks, title, limits.headingLengthMax)) {
    checkPassageCount(passages.push({ heading: cleanText(heading), text: cleanText(text) }), limits);
    // Each passage is stored with the headings above it.
    length += heading.length + text.length;
  }
  if (passages.length === 0) throw new UnreadableDocument('contains no text');
  checkTextLength(length, limits);
  const url = (reading.url ?? '').trim();
  const isWebPage = /^https?:\/\//i.test(url) && URL.canParse(url);
  const fits = url.length <= limits.documentUrlLengthMax;
  return { title, url: isWebPage && fits ? url : null, passages };
}

async function parseFormat(name: string, bytes: Uint8Array, limits: ReadingLimits): Promise<Reading> {
  const format = detectFormat(name);
  // Office documents are ZIP archives, and are sometimes renamed.
  if ([0x50, 0x4b, 0x03, 0x04].every((byte, at) => bytes[at] === byte)) {
    throw new UnreadableDocument('is a ZIP archive or an Office document: save it as PDF or text');
  }
  if (format === 'pdf') return readPdf(bytes, limits);
  if (format === 'html') return readHtml(decodeText(bytes, declaredEncoding(bytes)));
  const text = decodeText(bytes);
  checkTextLength(text.length, limits);
  return format === 'markdown' ? readMarkdown(text, limits) : readPlainText(text);
}

/** The title in the document's metadata, else its first heading if that is of the first level, else the file's name. */
function chooseTitle(reading: Reading, name: string): string {
  const headings = reading.blocks.filter((block) => block.kind === 'heading');
  const first = headings.find(({ level }) => level < termLevel);
  const candidates = [reading.title, first?.level === 1 ? first.text : '', bareName(name)];
  const titles = candidates.map((text) => evenSpaces(cleanText(text ?? '')));
  return titles.find((text) => text !== '') ?? name;
}
