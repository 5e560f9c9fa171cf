import { ServiceError } from '../domain/errors.ts';
import type { OrganizationId, UserId } from '../domain/id.ts';
import { type MemberRole, normalizeEmail } from '../domain/organization.ts';
import type { Context } from './context.ts';

export async function addMember(
  { store, ids }: Context,
  organizationId: OrganizationId,
  { email, role = 'member', service = false }: { email: string; role?: MemberRole; service?: boolean },
): Promise<UserId> {
  const address = normalizeEmail(email);
  if (address === undefined) throw new ServiceError('INVALID_PARAMS', `${email} is not an email address.`);
  const result = await store.addMember(organizationId, {
    candidateUserId: ids.user(),
    email: address,
    role,
    service,
  });
  switch (result.outcome) {
    case 'added':
      return result.userId;
    case 'already-member':
      throw new ServiceError('INVALID_PARAMS', `${address} is a member already.`);
    case 'organization-missing':
      throw new ServiceError('NOT_FOUND', `There is no organization ${organizationId}.`);
  }
}
