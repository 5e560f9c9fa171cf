import { type DocumentText, UnreadableDocument } from '../../domain/document.ts';
import { evenSpaces, type Reading } from './blocks.ts';
import { cleanText, decodeText } from './decode-text.ts';
import { bareName, formatOf } from './formats.ts';
import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readPdf } from './pdf.ts';
import { readPlainText } from './plain-text.ts';
import { splitPassages } from './split-passages.ts';
import { checkTextLength } from './text-length.ts';

const titleLengthMax = 200;

/** Reads a file in this very thread, which a hostile one can keep busy for as long as it likes. */
export async function parseDocument(name: string, bytes: Uint8Array): Promise<DocumentText> {
  const reading = await readingOf(name, bytes);
  checkTextLength(reading.blocks.reduce((length, block) => length + block.text.length, 0));
  const title = titleOf(reading, name);
  const passages = splitPassages(reading.blocks, title);
  if (passages.length === 0) throw new UnreadableDocument('holds no text');
  return {
    title,
    url: reading.url ?? null,
    passages: passages.map(({ heading, text }) => ({ heading: cleanText(heading), text: cleanText(text) })),
  };
}

async function readingOf(name: string, bytes: Uint8Array): Promise<Reading> {
  const format = formatOf(name);
  if (format === 'pdf') return readPdf(bytes);
  const text = decodeText(bytes);
  if (format === 'html') return readHtml(text);
  checkTextLength(text.length);
  return format === 'markdown' ? readMarkdown(text) : readPlainText(text);
}

/** What the document says it is called, else its first heading of the first level, else the file's name. */
function titleOf(reading: Reading, name: string): string {
  const heading = reading.blocks.find((block) => block.kind === 'heading' && block.level === 1);
  const candidates = [reading.title, heading?.text, bareName(name), name];
  const title =
    candidates.map((text) => evenSpaces(cleanText(text ?? ''))).find((text) => text !== '') ?? name;
  const letters = [...title];
  return letters.length <= titleLengthMax
    ? title
    : `${letters
        .slice(0, titleLengthMax - 1)
        .join('')
        .trimEnd()}…`;
}
