import type { Initiator } from '../../domain/audit.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { findMember, noSuchMember } from './find-member.ts';
import { lastAdmin } from './last-admin.ts';

/**
 * The member's personal keys die in the same commit and stay dead should they come back; their threads stay (§5.8). Only
 * the operator, who can make another, may leave an organization without an admin.
 */
export async function removeMember(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  email: string,
): Promise<{ userId: UserId; keysRevoked: number }> {
  const member = await findMember(context, organizationId, email);
  const note = auditNote(context, initiator, 'member.removed', member.userId, { email: member.email });
  const keepAdmin = initiator.actor.kind !== 'operator';
  const result = await context.store.removeMember(organizationId, member.email, keepAdmin, note);
  switch (result.outcome) {
    case 'removed':
      return { userId: result.userId, keysRevoked: result.keysRevoked };
    case 'missing':
      throw noSuchMember(email);
    case 'last-admin':
      throw lastAdmin();
  }
}
