import { ServiceError } from '../domain/errors.ts';
import type { KeyId, OrganizationId } from '../domain/id.ts';
import type { Context } from './context.ts';

/** From the moment this resolves the key gets 401, in every process (§5.8). */
export async function revokeApiKey(
  { store }: Context,
  organizationId: OrganizationId,
  keyId: string,
): Promise<void> {
  const outcome = await store.revokeApiKey(organizationId, keyId as KeyId);
  if (outcome === 'missing') {
    throw new ServiceError(
      'NOT_FOUND',
      `The organization has no key ${keyId}: 'skein key list ${organizationId}' shows its keys.`,
    );
  }
}
