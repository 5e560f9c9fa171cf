import { type DocumentText, storableTitle, storableUrl, UnreadableDocument } from '../../domain/document.ts';
import { defaultLimits, limits as fixed, type Limits } from '../../domain/limits.ts';
import { cutText } from '../../domain/text.ts';
import { type Block, checkTextLength, evenSpaces, type Reading } from './blocks.ts';
import { cleanText, decodeText } from './decode-text.ts';
import { bareName, formatOf } from './formats.ts';
import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readPdf } from './pdf.ts';
import { readPlainText } from './plain-text.ts';
import { withQuestionHeadings } from './questions.ts';
import { splitPassages } from './split-passages.ts';

const headingLengthMax = fixed.headingLengthMax.default;

/** Reads a file in this very thread, which a hostile one can keep busy for as long as it likes. */
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

/** A heading stands above many passages. What is cut off is kept once, as text below it. */
function withShortHeading(block: Block): Block[] {
  if (block.kind !== 'heading') return [block];
  const text = cutText(block.text, headingLengthMax);
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

async function readingOf(name: string, bytes: Uint8Array, limits: Limits): Promise<Reading> {
  const format = formatOf(name);
  if (format === 'pdf') return readPdf(bytes, limits);
  const text = decodeText(bytes);
  if (format === 'html') return readHtml(text);
  checkTextLength(text.length, limits);
  return format === 'markdown' ? readMarkdown(text) : readPlainText(text);
}

/** What the document says it is called, else its first heading of the first level, else the file's name. */
function titleOf(reading: Reading, name: string): string {
  const heading = reading.blocks.find((block) => block.kind === 'heading' && block.level === 1);
  const candidates = [reading.title, heading?.text, bareName(name), name];
  const title =
    candidates.map((text) => evenSpaces(cleanText(text ?? ''))).find((text) => text !== '') ?? name;
  return storableTitle(title);
}
