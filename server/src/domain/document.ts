import { cutText } from '../../../runtime/src/pure/text.ts';
import type { DocumentId, OrganizationId } from './id.ts';
import { limits as fixed } from './limits.ts';

/** A document that replies can draw on. It belongs to an organization, or to one account in it. */
export interface Document {
  readonly id: DocumentId;
  /** Null for a general document, which is available to every thread of the organization. */
  readonly accountId: string | null;
  /** The file path under which it was added. Adding the same name again replaces the document. */
  readonly name: string;
  readonly title: string;
  readonly url: string | null;
  readonly passageCount: number;
  /** The UTF-8 size of its passages and their headings. It counts against the organization's budget. */
  readonly bytes: number;
  readonly addedAt: number;
}

/** A piece of a document that can be read, found and cited without the rest. */
export interface PassageText {
  /** The headings above it, outermost first: 'Refunds › Digital goods'. Empty if there are none. */
  readonly heading: string;
  readonly text: string;
}

export interface IndexedPassage extends PassageText {
  /** The words by which the passage is found, normalized; letters and digits only. */
  readonly terms: readonly string[];
}

export interface DocumentText extends Pick<Document, 'title' | 'url'> {
  readonly passages: readonly PassageText[];
}

export interface IndexedDocument extends Omit<DocumentText, 'passages'> {
  readonly bytes: number;
  readonly passages: readonly IndexedPassage[];
}

export interface FoundPassage extends PassageText, Pick<Document, 'name' | 'title' | 'url'> {
  readonly documentId: DocumentId;
}

export interface DocumentOutline {
  readonly title: string;
  readonly opening: string;
  /** Example questions that it answers. */
  readonly questions: readonly string[];
}

/** Shortens a title to the length that can be stored, with an ellipsis. */
export function storableTitle(title: string): string {
  return cutText(title, fixed.documentTitleLengthMax.default);
}

/** Returns the URL, or null if it is too long to store: a shortened URL would lead elsewhere. */
export function storableUrl(url: string | null): string | null {
  return url !== null && url.length <= fixed.documentUrlLengthMax.default ? url : null;
}

type DocumentFormat = 'markdown' | 'plain text' | 'html' | 'pdf';

const formats = new Map<string, DocumentFormat>([
  ...['.md', '.markdown'].map((ending) => [ending, 'markdown'] as const),
  ...['.txt', '.text'].map((ending) => [ending, 'plain text'] as const),
  ...['.html', '.htm'].map((ending) => [ending, 'html'] as const),
  ['.pdf', 'pdf'],
]);

export const documentEndings: readonly string[] = [...formats.keys()];
export const supportedTypes = '.md, .txt, .html, or .pdf';

/** A digit is the section of a manual page, such as `ls.1`: no longer accepted, but still found if it was stored before. */
const ending = /\.(?:[a-z]+|\d)$/i;
const compressed = /\.(?:gz|bz2|xz|zst|zip)$/i;

/** The format of a file, by its extension. Throws an `UnreadableDocument` for an unknown extension. */
export function detectFormat(name: string): DocumentFormat {
  const format = formats.get(ending.exec(name)?.[0].toLowerCase() ?? '');
  if (format !== undefined) return format;
  if (compressed.test(name)) throw new UnreadableDocument('is compressed: unpack it first');
  throw new UnreadableDocument(`has an unsupported file type: use ${supportedTypes}`);
}

export function bareName(name: string): string {
  const file = name.split(/[/\\]/).at(-1) ?? name;
  return file.replace(ending, '') || file;
}

/** What a passage is found by: its own text, the headings above it, the title and the file's name. */
export function indexedText(name: string, title: string, { heading, text }: PassageText): string {
  return `${title}\n${bareName(name)}\n${heading}\n${text}`;
}

/** Why a file cannot be opened, worded to follow the file's name. */
export function fileFault(code: string | undefined): string {
  return fileFaults[code ?? ''] ?? 'cannot be read';
}

const fileFaults: Readonly<Record<string, string>> = {
  ENOENT: 'file not found',
  ENOTDIR: 'file not found',
  EACCES: 'permission denied',
  EISDIR: 'is a folder',
};

/** A file that cannot be added. The message says why, in words for the person who tried. */
export class UnreadableDocument extends Error {}

/** The result of a search, best passage first. */
export interface Findings {
  readonly searched: number;
  readonly passages: readonly FoundPassage[];
}

export interface Library {
  /** Rejects with an `UnreadableDocument` if it cannot be read. Few files are read at once; organizations take turns. */
  read(organizationId: OrganizationId, name: string, path: string): Promise<IndexedDocument>;
  /** Searches the organization's general documents and, with an account, that account's. */
  search(
    organizationId: OrganizationId,
    accountId: string | null,
    question: string,
    limit: number,
  ): Promise<Findings>;
}

/** The part of a document that example questions are made from. */
export interface DocumentHeadings extends Pick<Document, 'accountId' | 'title'> {
  readonly organizationId: OrganizationId;
  readonly id: string;
  readonly headings: readonly string[];
}
