import type { OrganizationId, UserId } from '../domain/id.ts';
import { normalizeEmail } from '../domain/organization.ts';
import type { Context } from './context.ts';
import { noSuchMember } from './find-member.ts';

/** The member's personal keys die in the same commit and stay dead should they come back; their threads stay (§5.8). */
export async function removeMember(
  { store }: Context,
  organizationId: OrganizationId,
  email: string,
): Promise<{ userId: UserId; keysRevoked: number }> {
  const result = await store.removeMember(organizationId, normalizeEmail(email) ?? email);
  if (result.outcome === 'missing') throw noSuchMember(email);
  return { userId: result.userId, keysRevoked: result.keysRevoked };
}
