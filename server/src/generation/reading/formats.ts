import { UnreadableDocument } from '../../domain/document.ts';

export type Format = 'markdown' | 'plain text' | 'html' | 'pdf';

const formats: Readonly<Record<string, Format>> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.txt': 'plain text',
  '.text': 'plain text',
  '.html': 'html',
  '.htm': 'html',
  '.pdf': 'pdf',
};

/** The endings of names of files that can be read, in small letters. */
export const readableEndings: readonly string[] = Object.keys(formats);

export function formatOf(name: string): Format {
  const ending = /\.[a-z]+$/i.exec(name)?.[0].toLowerCase() ?? '';
  const format = Object.hasOwn(formats, ending) ? formats[ending] : undefined;
  if (format !== undefined) return format;
  throw new UnreadableDocument('is of a kind that cannot be read: use .md, .txt, .html or .pdf');
}

/** A file's name without its folders and its ending. */
export function bareName(name: string): string {
  const file = name.split(/[/\\]/).at(-1) ?? name;
  return file.replace(/\.[a-z]+$/i, '') || file;
}
