import type { Document, DocumentOutline, FoundPassage, IndexedPassage } from '../domain/document.ts';
import type { DocumentId, OrganizationId } from '../domain/id.ts';
import type { AuditNote } from './audit-store.ts';

export interface NewDocument {
  readonly id: DocumentId;
  readonly accountId: string | null;
  readonly name: string;
  /** Stored as `storableTitle` cuts it. */
  readonly title: string;
  /** Stored as null where `storableUrl` finds it too long. */
  readonly url: string | null;
  /** What it takes of the organization's budget. */
  readonly bytes: number;
  readonly passages: readonly IndexedPassage[];
}

/** What the documents of an organization may add up to. */
export interface DocumentBudget {
  readonly documentsMax: number;
  readonly bytesMax: number;
}

/** A passage in the store's own numbering, within an organization. */
export type PassageNumber = number;

export type PutDocumentOutcome =
  | { readonly outcome: 'added' | 'replaced'; readonly id: DocumentId }
  | { readonly outcome: 'organization-missing' | 'too-many-documents' | 'too-many-bytes' };

export interface Documents {
  /**
   * Adds the document, or puts it in the place of that of the same account and name, whose id it then keeps. The note's
   * action and subject are then `document.replaced` and that id, whatever it says.
   *
   * Passages are written a few at a time, so that nobody waits long for it. The document is visible as a whole, with its
   * note, in one commit at the end; until then readers see what was there before. After a crash nothing of it is visible,
   * and `sweepDocuments` removes what was written. The budget is checked and taken before the first passage is written:
   * documents that are being written count, the one that is replaced does not.
   */
  putDocument(
    organizationId: OrganizationId,
    document: NewDocument,
    note: AuditNote,
    budget: DocumentBudget,
  ): Promise<PutDocumentOutcome>;
  /** The document is gone for readers in one commit, with the note; its passages are then removed a few at a time. */
  removeDocument(
    organizationId: OrganizationId,
    documentId: DocumentId,
    note: AuditNote,
  ): Promise<'removed' | 'missing'>;
  /**
   * Removes what writers left behind that died, a few passages at a time: all of a document that was being removed, and
   * of one that was being written and has not grown for a minute. Answers how many passages it removed.
   */
  sweepDocuments(): Promise<number>;
  /** In order of their names. */
  listDocuments(organizationId: OrganizationId): Promise<Document[]>;
  findDocument(organizationId: OrganizationId, documentId: string): Promise<Document | undefined>;
  /** What the first documents by name are about, among the general ones and those of the account. */
  outlineDocuments(
    organizationId: OrganizationId,
    accountId: string | null,
    limits: { readonly documents: number; readonly headings: number },
  ): Promise<DocumentOutline[]>;
  /**
   * Which passages hold each term, at most `limit` of them per term, among the general documents and those of the
   * account; and how many passages there are in all. The cost grows with `limit` and the terms, not with the documents.
   * Several terms with a space between them ask for the passages that hold them all; that costs up to a look at every
   * holder of the rarest.
   */
  findPassages(
    organizationId: OrganizationId,
    accountId: string | null,
    terms: readonly string[],
    limit: number,
  ): Promise<{ passageCount: number; holders: PassageNumber[][] }>;
  /** In the order asked for, less those that are gone. Title and URL are read once per document, not per passage. */
  readPassages(
    organizationId: OrganizationId,
    passages: readonly PassageNumber[],
  ): Promise<(FoundPassage & { readonly number: PassageNumber })[]>;
}
