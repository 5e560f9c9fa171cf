import type { DocumentId } from './id.ts';
import { limits as fixed } from './limits.ts';
import { cutText } from './text.ts';

/** Something to draw on. It belongs to an organization, or to one account of it. */
export interface Document {
  readonly id: DocumentId;
  /** Null: general, for every thread of the organization. */
  readonly accountId: string | null;
  /** What it was added as, a file's path; adding the same name again replaces the document. */
  readonly name: string;
  readonly title: string;
  readonly url: string | null;
  readonly passageCount: number;
  /** What the texts and headings of its passages take in UTF-8: its part of the organization's budget. */
  readonly bytes: number;
  readonly addedAt: number;
}

/** A piece of a document that can be read, found and cited by itself. */
export interface PassageText {
  /** The headings above it, from the outermost: 'Refunds › Digital goods'. Empty where there is none. */
  readonly heading: string;
  readonly text: string;
}

export interface IndexedPassage extends PassageText {
  /** The words by which the passage is found, normalised; letters and digits only. */
  readonly terms: readonly string[];
}

/** What a file says, whatever its format. */
export interface DocumentText {
  readonly title: string;
  readonly url: string | null;
  readonly passages: readonly PassageText[];
}

/** A document as it is stored and found. */
export interface IndexedDocument {
  readonly title: string;
  readonly url: string | null;
  readonly bytes: number;
  readonly passages: readonly IndexedPassage[];
}

/** Where the bytes of a document are: in a file, or in memory. */
export type FileSource = { readonly path: string } | { readonly bytes: Uint8Array };

export interface FoundPassage extends PassageText {
  readonly documentId: DocumentId;
  /** Its document's name and title. */
  readonly name: string;
  readonly title: string;
  readonly url: string | null;
}

/** What a document is about. */
export interface DocumentOutline {
  readonly title: string;
  /** The first few, without repeats. */
  readonly headings: readonly string[];
  /** Its first passage. */
  readonly opening: string;
}

/** A title that may be stored: with an ellipsis where it was cut. */
export function storableTitle(title: string): string {
  return cutText(title, fixed.documentTitleLengthMax.default);
}

/** A URL that may be stored, or null: a part of a URL would lead elsewhere. */
export function storableUrl(url: string | null): string | null {
  return url !== null && url.length <= fixed.documentUrlLengthMax.default ? url : null;
}

/** The endings of the names of files that can be read. */
export const documentEndings = [
  ...['.md', '.markdown', '.txt', '.text', '.html', '.htm', '.pdf'],
  // Manual pages, by section.
  ...['.1', '.2', '.3', '.4', '.5', '.6', '.7', '.8'],
];

/** Why a file cannot be opened, as it follows the file's name. */
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
