import type { Doer } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-note.ts';
import { withCommand } from '../organization/operator.ts';

/** The next reply no longer draws on it; replies that cite it stay as they are. */
export async function removeDocument(
  context: Context,
  organizationId: OrganizationId,
  doer: Doer,
  documentId: string,
): Promise<void> {
  const documents = await context.store.listDocuments(organizationId);
  const document = documents.find(({ id }) => id === documentId);
  if (document === undefined) throw documentNotFound(doer, documentId);
  const { id, name, accountId } = document;
  const note = auditNote(context, doer, 'document.removed', id, { name, accountId });
  const outcome = await context.store.removeDocument(organizationId, id, note);
  if (outcome === 'missing') throw documentNotFound(doer, documentId);
}

function documentNotFound(doer: Doer, documentId: string): ServiceError {
  const fact = `The organization has no document ${documentId}`;
  return new ServiceError('NOT_FOUND', withCommand(doer, fact, "'skein doc list' shows those it has"));
}
