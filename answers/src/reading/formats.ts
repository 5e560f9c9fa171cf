import { readEnding } from '../retrieval/file-name.ts';
import { UnreadableDocument } from './unreadable-document.ts';

type DocumentFormat = 'markdown' | 'plain text' | 'html' | 'pdf';

const formats = new Map<string, DocumentFormat>([
  ...['.md', '.markdown'].map((ending) => [ending, 'markdown'] as const),
  ...['.txt', '.text'].map((ending) => [ending, 'plain text'] as const),
  ...['.html', '.htm'].map((ending) => [ending, 'html'] as const),
  ['.pdf', 'pdf'],
]);

/** The endings of file names that can be read, and how a message lists the formats. */
export const documentFormats = {
  endings: [...formats.keys()] as readonly string[],
  summary: '.md, .txt, .html, or .pdf',
};

const compressed = /\.(?:gz|bz2|xz|zst|zip)$/i;

/** The format of a file, by its extension. Throws an `UnreadableDocument` for an unknown extension. */
export function detectFormat(name: string): DocumentFormat {
  const format = formats.get(readEnding(name));
  if (format !== undefined) return format;
  if (compressed.test(name)) throw new UnreadableDocument('is compressed: unpack it first');
  throw new UnreadableDocument(`has an unsupported file type: use ${documentFormats.summary}`);
}
