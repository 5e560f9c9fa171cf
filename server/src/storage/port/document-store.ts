import type {
  Document,
  DocumentOutline,
  FoundPassage,
  IndexedPassage,
  PassageText,
} from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import type { AuditedMethod, InOrganization } from './log-store.ts';

export interface NewDocument extends Pick<Document, 'id' | 'accountId' | 'name' | 'bytes'> {
  /** Cut by `storableTitle`. */
  readonly title: string;
  /** Stored as null if `storableUrl` finds it too long. */
  readonly url: string | null;
  readonly passages: readonly IndexedPassage[];
}

export interface DocumentBudget {
  readonly documentsMax: number;
  readonly bytesMax: number;
}

/** The store's own number of a passage, within an organization. */
export type PassageNumber = number;

export interface Documents {
  /**
   * Adds the document, or replaces the one with the same account and name and keeps its id. The note is then written with
   * the action `document.replaced` and that id.
   *
   * Passages are written a few at a time, so that no other write waits long. One commit at the end makes the document
   * visible as a whole; after a crash nothing of it is visible, and `sweepDocuments` removes its passages. Documents that
   * are being written count against the budget, the replaced one does not. The authority is verified in the first commit
   * and in the last one.
   */
  putDocument: AuditedMethod<
    [document: NewDocument, budget: DocumentBudget],
    | { readonly outcome: 'added' | 'replaced'; readonly id: DocumentId }
    | { readonly outcome: 'organization-missing' | 'too-many-documents' | 'too-many-bytes' }
  >;
  /** One commit hides the document and writes the note; its passages are then removed a few at a time. */
  removeDocument: AuditedMethod<[documentId: DocumentId], 'removed' | 'missing'>;
  /**
   * Removes the passages of documents that were being removed, or were being written and have not grown for a minute.
   * Returns their number.
   */
  sweepDocuments(): Promise<number>;
  /** Ordered by name, and then by account: all of them, or the next `limit` after a document. */
  listDocuments: InOrganization<
    [page?: { readonly after?: Pick<Document, 'name' | 'accountId'> | undefined; readonly limit?: number }],
    Document[]
  >;
  findDocument: InOrganization<[documentId: string], Document | undefined>;
  /** In the order of the text, after the passage `after` and without the next `skip`. Empty if there is no such document. */
  listPassages: InOrganization<
    [
      documentId: string,
      page: { readonly after?: PassageNumber; readonly skip?: number; readonly limit: number },
    ],
    (PassageText & { readonly number: PassageNumber })[]
  >;
  /** A document of any organization that has no example questions. Each is returned once, even if the caller fails. */
  claimDocumentForQuestions(): Promise<(Document & { readonly organizationId: OrganizationId }) | undefined>;
  /** Null lets the document be claimed again. Does nothing if it was removed or replaced since it was claimed. */
  setDocumentQuestions: InOrganization<
    [document: Pick<Document, 'id' | 'addedAt'>, questions: readonly string[] | null],
    void
  >;
  /** The questions of the first documents by name that have any: the account's documents, then the general ones. */
  listDocumentQuestions: InOrganization<[accountId: string | null, limit: number], (readonly string[])[]>;
  /** The first documents by name, among the general documents and the account's. */
  outlineDocuments: InOrganization<[accountId: string | null, limit: number], DocumentOutline[]>;
  /**
   * The passages that contain each term, at most `limit` per term, of the general documents and those of the account, and
   * how many passages there are. The cost grows with `limit` and the terms, not with the documents. Several terms
   * separated by spaces find the passages that contain all of them; at worst, that reads every passage with the rarest one.
   * Terms separated by `|` find the passages that contain any of them.
   */
  findPassages: InOrganization<
    [accountId: string | null, terms: readonly string[], limit: number],
    { passageCount: number; holders: PassageNumber[][] }
  >;
  /** Passages of the general documents and of the account's, in the given order. Passages that are gone are left out. */
  readPassages: InOrganization<
    [accountId: string | null, passages: readonly PassageNumber[]],
    (FoundPassage & { readonly number: PassageNumber })[]
  >;
}
