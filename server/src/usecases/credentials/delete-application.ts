import type { Initiator } from '../../domain/audit.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { applicationNotFound } from './application-not-found.ts';
import { findApplication } from './find-application.ts';

/** Its secret, and every token issued under it, are void once this resolves (§5.8). */
export async function deleteApplication(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  applicationId: string,
): Promise<void> {
  const { id, name } = await findApplication(context, organizationId, initiator, applicationId);
  const note = auditNote(context, initiator, 'application.deleted', id, { name });
  const outcome = await context.store.deleteApplication(organizationId, id, note);
  if (outcome === 'missing') throw applicationNotFound(applicationId, initiator);
}
