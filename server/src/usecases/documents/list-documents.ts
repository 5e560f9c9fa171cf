import type { Document } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';

export interface ListedDocuments {
  /** In order of their names. */
  readonly documents: readonly Document[];
  /** How much the organization stores, and how much it may store. Bytes are of text, not of files. */
  readonly storage: {
    readonly documents: number;
    readonly documentsMax: number;
    readonly bytes: number;
    readonly bytesMax: number;
  };
}

export async function listDocuments(
  { store, limits }: Context,
  organizationId: OrganizationId,
): Promise<ListedDocuments> {
  const documents = await store.listDocuments(organizationId);
  const storage = {
    documents: documents.length,
    documentsMax: limits.organizationDocumentsMax,
    bytes: documents.reduce((sum, { bytes }) => sum + bytes, 0),
    bytesMax: limits.organizationBytesMax,
  };
  return { documents, storage };
}
