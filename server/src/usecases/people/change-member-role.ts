import type { Initiator } from '../../domain/audit.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { findMemberById, noSuchMember } from './find-member.ts';
import { lastAdmin } from './last-admin.ts';

/** Takes effect with the member's next request. */
export async function changeMemberRole(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  userId: string,
  role: MemberRole,
): Promise<void> {
  const member = await findMemberById(context, organizationId, userId);
  const detail = { email: member.email, role };
  const note = auditNote(context, initiator, 'member.role-changed', member.userId, detail);
  const outcome = await context.store.setMemberRole(organizationId, member.userId, role, note);
  if (outcome === 'missing') throw noSuchMember(member.email);
  if (outcome === 'last-admin') throw lastAdmin();
}
