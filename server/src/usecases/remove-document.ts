import { ServiceError } from '../domain/errors.ts';
import type { DocumentId, OrganizationId } from '../domain/id.ts';
import type { Context } from './context.ts';

/** The next reply no longer draws on it; replies that cite it stay as they are. */
export async function removeDocument(
  { store }: Context,
  organizationId: OrganizationId,
  documentId: string,
): Promise<void> {
  // An id of any form may be asked for: one that no document has is missing.
  if ((await store.removeDocument(organizationId, documentId as DocumentId)) === 'missing') {
    throw new ServiceError(
      'NOT_FOUND',
      `The organization has no document ${documentId}: 'skein doc list' shows those it has.`,
    );
  }
}
