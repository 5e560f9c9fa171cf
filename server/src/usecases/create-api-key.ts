import { apiKeyHint, generateApiKey } from '../domain/credential.ts';
import { ServiceError } from '../domain/errors.ts';
import type { KeyId, OrganizationId, UserId } from '../domain/id.ts';
import { nameFault } from '../domain/text.ts';
import { apiDisabled } from './api-disabled.ts';
import type { Context } from './context.ts';

/** The key itself is returned here and nowhere else: only its hash is kept. Without an owner it is org-wide. */
export async function createApiKey(
  { store, ids, randomBytes, crc32, sha256 }: Context,
  organizationId: OrganizationId,
  { userId, name }: { userId: UserId | null; name: string },
): Promise<{ id: KeyId; key: string }> {
  const fault = nameFault(name, 0, 255);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `The key's name ${fault}.`);
  const id = ids.key();
  const key = generateApiKey(randomBytes, crc32);
  const outcome = await store.createApiKey(organizationId, {
    id,
    name,
    userId,
    hash: sha256(key),
    hint: apiKeyHint(key),
  });
  if (outcome !== 'created') throw refusal(outcome, organizationId);
  return { id, key };
}

function refusal(
  outcome: 'organization-missing' | 'api-disabled' | 'not-a-member',
  organizationId: OrganizationId,
): ServiceError {
  switch (outcome) {
    case 'organization-missing':
      return new ServiceError('NOT_FOUND', `There is no organization ${organizationId}.`);
    case 'api-disabled':
      return apiDisabled(organizationId);
    case 'not-a-member':
      return new ServiceError(
        'NOT_FOUND',
        'The owner of a personal key must be a member of the organization.',
      );
  }
}
