import { documentEndings, UnreadableDocument } from '../../domain/document.ts';

export type Format = 'markdown' | 'plain text' | 'html' | 'pdf';

const formats: Readonly<Record<string, Format>> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.html': 'html',
  '.htm': 'html',
  '.pdf': 'pdf',
};
const ending = /\.(?:[a-z]+|\d)$/i;

/** The format for a file extension. */
export function formatOf(name: string): Format {
  const found = ending.exec(name)?.[0].toLowerCase();
  if (documentEndings.some((known) => known === found)) return formats[found!] ?? 'plain text';
  throw new UnreadableDocument('is of a kind that cannot be read: use .md, .txt, .html or .pdf');
}

/** The name of a file without its folders and its ending. */
export function bareName(name: string): string {
  const file = name.split(/[/\\]/).at(-1) ?? name;
  return file.replace(ending, '') || file;
}
