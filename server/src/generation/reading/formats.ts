import { documentEndings, UnreadableDocument } from '../../domain/document.ts';

export type Format = 'markdown' | 'plain text' | 'html' | 'pdf';

const formats: Readonly<Record<(typeof documentEndings)[number], Format>> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.txt': 'plain text',
  '.text': 'plain text',
  '.html': 'html',
  '.htm': 'html',
  '.pdf': 'pdf',
};

export function formatOf(name: string): Format {
  const ending = /\.[a-z]+$/i.exec(name)?.[0].toLowerCase() ?? '';
  const known = documentEndings.find((each) => each === ending);
  if (known !== undefined) return formats[known];
  throw new UnreadableDocument('is of a kind that cannot be read: use .md, .txt, .html or .pdf');
}

/** A file's name without its folders and its ending. */
export function bareName(name: string): string {
  const file = name.split(/[/\\]/).at(-1) ?? name;
  return file.replace(/\.[a-z]+$/i, '') || file;
}
