import type { ApiKey } from '../domain/credential.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Context } from './context.ts';
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
