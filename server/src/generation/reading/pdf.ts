import { UnreadableDocument } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';
import { type Block, checkTextLength, evenSpaces, type Reading } from './blocks.ts';
import { cleanText } from './decode-text.ts';
import { blocksOfLines, type Line, linesOfPage, type Run, withoutRunningLines } from './pdf-layout.ts';
import { isTitle } from './plain-text.ts';

type Pdf = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>;

/** Titles that programs write if the author gave none. */
const notATitle =
  /^(?:untitled|title|none|null|document\s*\d*|presentation\s*\d*|microsoft \w+ - .*|.*\.(?:docx?|pptx?|xlsx?|odt|rtf|tex|dvi|indd|qxd|pdf|html?|txt|md))$/i;
const titleLengthMax = 200;

/** Reads the text of a PDF. Scanned pages have none. */
export async function readPdf(bytes: Uint8Array, limits: Limits): Promise<Reading> {
  const pdf = await openPdf(bytes);
  try {
    const title = await statedTitle(pdf);
    const blocks = blocksOfLines(withoutRunningLines(await pagesOf(pdf, limits)));
    if (blocks.length === 0) {
      throw new UnreadableDocument('holds no text: run text recognition (OCR) on scanned pages first');
    }
    return { title: title ?? openingTitle(blocks), blocks };
  } catch (error) {
    throw error instanceof UnreadableDocument ? error : damaged(error);
  } finally {
    await pdf.loadingTask.destroy();
  }
}

/** The parser is 1.7 MB of source, so it is loaded with the first PDF. */
async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  const { getDocumentProxy } = await import('unpdf');
  try {
    // `verbosity: 0` keeps warnings about the file off the terminal.
    return await getDocumentProxy(bytes, { verbosity: 0, disableFontFace: true });
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new UnreadableDocument('is protected by a password', { cause: error });
    }
    throw damaged(error);
  }
}

async function pagesOf(pdf: Pdf, limits: Limits): Promise<(readonly Line[])[]> {
  const pages: (readonly Line[])[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const runs = items
      .filter((item) => 'str' in item)
      .map((item): Run => ({ ...item, str: cleanText(item.str) }));
    const lines = linesOfPage(runs, number);
    length += lines.reduce((sum, line) => sum + line.text.length, 0);
    checkTextLength(length, limits);
    pages.push(lines);
    page.cleanup();
  }
  return pages;
}

async function statedTitle(pdf: Pdf): Promise<string | undefined> {
  const { info } = await pdf.getMetadata();
  const stated = 'Title' in info && typeof info.Title === 'string' ? evenSpaces(cleanText(info.Title)) : '';
  const isSensible = /\p{L}/u.test(stated) && stated.length <= titleLengthMax && !notATitle.test(stated);
  return isSensible ? stated : undefined;
}

function openingTitle(blocks: readonly Block[]): string | undefined {
  const [first] = blocks;
  return first?.kind === 'heading' || (first?.kind === 'paragraph' && isTitle(first.text))
    ? first.text
    : undefined;
}

function damaged(error: unknown): UnreadableDocument {
  const reason = error instanceof Error ? error.message.replace(/\.$/, '') : 'the parser gave up';
  return new UnreadableDocument(`is damaged: ${evenSpaces(reason)}`, { cause: error });
}
