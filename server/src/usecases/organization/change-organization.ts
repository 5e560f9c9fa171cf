import type { Initiator } from '../../domain/audit.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote } from './audit-note.ts';
import { organizationNotFound } from './find-organization.ts';

/** Takes effect in every running server with its next request. */
export async function changeOrganization(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  change: { apiEnabled?: boolean; dailyQuota?: number },
): Promise<void> {
  const note = auditNote(context, initiator, 'organization.changed', organizationId, { ...change });
  const changed = await context.store.updateOrganization(organizationId, change, note);
  if (changed === undefined) throw organizationNotFound(organizationId);
}
