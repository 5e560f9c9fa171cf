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
  readonly documentId: string;
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

/** A file that cannot be added. The message says why, in words for the person who tried. */
export class UnreadableDocument extends Error {}

/** The result of a search, best passage first. */
export interface Findings {
  readonly searched: number;
  readonly passages: readonly FoundPassage[];
}

/** The formats that can be read. */
export interface DocumentFormats {
  /** The endings of file names, such as `.pdf`. */
  readonly endings: readonly string[];
  /** How a message lists them. */
  readonly summary: string;
}

export interface Library {
  readonly formats: DocumentFormats;
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
