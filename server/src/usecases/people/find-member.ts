import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { type Member, normalizeEmail } from '../../domain/organization.ts';
import type { Context } from '../context.ts';

export async function findMember(
  { store }: Context,
  organizationId: OrganizationId,
  email: string,
): Promise<Member> {
  const member = await store.findMember(organizationId, normalizeEmail(email) ?? email);
  if (member === undefined) throw noSuchMember(email);
  return member;
}

export async function findMemberById(
  { store }: Context,
  organizationId: OrganizationId,
  userId: string,
): Promise<Member> {
  const member = await store.findMemberById(organizationId, userId as UserId);
  if (member === undefined) {
    throw new ServiceError('NOT_FOUND', `${userId} is not a member of the organization.`);
  }
  return member;
}

export function noSuchMember(email: string): ServiceError {
  return new ServiceError('NOT_FOUND', `${email} is not a member: 'skein member list ORG' shows who is.`);
}
