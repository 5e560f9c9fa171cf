import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote, withCommand } from '../organization/audit-log.ts';

/** New replies no longer use the document; replies that cite it stay unchanged. */
export async function removeDocument(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  documentId: string,
): Promise<void> {
  const document = await context.store.findDocument(organizationId, documentId);
  if (document === undefined) throw documentNotFound(initiator, documentId);
  const { id, name, accountId } = document;
  const note = auditNote(context, initiator, 'document.removed', id, { name, accountId });
  const outcome = await context.store.removeDocument(organizationId, id, note);
  if (outcome === 'missing') throw documentNotFound(initiator, documentId);
}

function documentNotFound(initiator: Initiator, documentId: string): ServiceError {
  const fact = `The organization has no document ${documentId}`;
  return new ServiceError('NOT_FOUND', withCommand(initiator, fact, "'skein doc list' shows those it has"));
}
