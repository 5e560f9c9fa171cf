import type { Document, FoundPassage, PassageText } from '../domain/document.ts';
import type { DocumentId, OrganizationId } from '../domain/id.ts';
import type { AuditNote } from './audit-store.ts';

export interface NewDocument {
  readonly id: DocumentId;
  readonly accountId: string | null;
  readonly name: string;
  readonly title: string;
  readonly url: string | null;
  /** `terms`: the words by which the passage is found; letters and digits only. */
  readonly passages: readonly (PassageText & { readonly terms: readonly string[] })[];
}

/** A passage in the store's own numbering, within an organization. */
export type PassageNumber = number;

export interface Documents {
  /**
   * Adds the document, or puts it in the place of that of the same account and name, whose id it then keeps. The note's
   * action and subject are then `document.replaced` and that id, whatever it says.
   */
  putDocument(
    organizationId: OrganizationId,
    document: NewDocument,
    note: AuditNote,
  ): Promise<{ outcome: 'added' | 'replaced'; id: DocumentId } | { outcome: 'organization-missing' }>;
  removeDocument(
    organizationId: OrganizationId,
    documentId: DocumentId,
    note: AuditNote,
  ): Promise<'removed' | 'missing'>;
  /** In order of their names. */
  listDocuments(organizationId: OrganizationId): Promise<Document[]>;
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
  /** In the order asked for, less those that are gone. */
  readPassages(
    organizationId: OrganizationId,
    passages: readonly PassageNumber[],
  ): Promise<(FoundPassage & { readonly number: PassageNumber })[]>;
}
