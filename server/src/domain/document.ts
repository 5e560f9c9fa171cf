import type { DocumentId } from './id.ts';

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
  readonly addedAt: number;
}

/** A piece of a document that can be read, found and cited by itself. */
export interface PassageText {
  /** The headings above it, from the outermost: 'Refunds › Digital goods'. Empty where there is none. */
  readonly heading: string;
  readonly text: string;
}

/** What a file says, whatever its format. */
export interface DocumentText {
  readonly title: string;
  readonly url: string | null;
  readonly passages: readonly PassageText[];
}

export interface FoundPassage extends PassageText {
  readonly documentId: DocumentId;
  /** Of its document. */
  readonly title: string;
  readonly url: string | null;
}

/** What the names of files that can be read end in. */
export const documentEndings = ['.md', '.markdown', '.txt', '.text', '.html', '.htm', '.pdf'] as const;

/** A file that cannot be added. The message says why, in words for the person who tried. */
export class UnreadableDocument extends Error {}
