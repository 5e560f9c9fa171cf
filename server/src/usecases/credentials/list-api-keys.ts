import type { ApiKey } from '../../domain/credential.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import type { KeyOwners } from './key-owner.ts';

/** In order of creation, revoked ones included. */
export async function listApiKeys(
  { store }: Context,
  organizationId: OrganizationId,
  owners: KeyOwners,
): Promise<ApiKey[]> {
  const keys = await store.listApiKeys(organizationId);
  return owners === 'all' ? keys : keys.filter(({ userId }) => userId === owners);
}

/** A key as people speak of it: by addresses. */
export interface AddressedApiKey extends ApiKey {
  /** Null for an org-wide key. */
  readonly owner: string | null;
  readonly ownedByService: boolean;
  /** Null: the operator. */
  readonly creator: string | null;
}

/** Whoever left the organization, and what they owned or made is still listed. */
const formerMember = 'former member';

export async function listAddressedApiKeys(
  context: Context,
  organizationId: OrganizationId,
  owners: KeyOwners,
): Promise<AddressedApiKey[]> {
  const [keys, members] = await Promise.all([
    listApiKeys(context, organizationId, owners),
    context.store.listMembers(organizationId),
  ]);
  const addresses = new Map(members.map(({ userId, email }) => [userId, email]));
  const addressOf = (userId: UserId | null) =>
    userId === null ? null : (addresses.get(userId) ?? formerMember);
  const services = new Set(members.flatMap(({ userId, service }) => (service ? [userId] : [])));
  return keys.map((key) => ({
    ...key,
    owner: addressOf(key.userId),
    creator: addressOf(key.createdBy),
    ownedByService: key.userId !== null && services.has(key.userId),
  }));
}
