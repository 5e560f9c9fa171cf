import { generateClientSecret } from '../domain/credential.ts';
import { ServiceError } from '../domain/errors.ts';
import type { ApplicationId, OrganizationId } from '../domain/id.ts';
import { nameFault } from '../domain/text.ts';
import { apiDisabled } from './api-disabled.ts';
import type { Context } from './context.ts';

/** The secret is returned here and nowhere else: only its hash is kept. */
export async function createApplication(
  { store, ids, randomBytes, crc32, sha256 }: Context,
  organizationId: OrganizationId,
  name: string,
): Promise<{ id: ApplicationId; clientSecret: string }> {
  const fault = nameFault(name, 1, 255);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `The application's name ${fault}.`);
  const id = ids.application();
  const clientSecret = generateClientSecret(randomBytes, crc32);
  const secretHash = sha256(clientSecret);
  const outcome = await store.createApplication(organizationId, { id, name, secretHash });
  if (outcome === 'api-disabled') throw apiDisabled(organizationId);
  if (outcome === 'organization-missing') {
    throw new ServiceError('NOT_FOUND', `There is no organization ${organizationId}.`);
  }
  return { id, clientSecret };
}
