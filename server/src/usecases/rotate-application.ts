import { generateClientSecret } from '../domain/credential.ts';
import type { ApplicationId, OrganizationId } from '../domain/id.ts';
import { apiDisabled } from './api-disabled.ts';
import { applicationNotFound } from './application-not-found.ts';
import type { Context } from './context.ts';

/** A new secret, shown this once. The old one, and every token issued under it, are void once this resolves (§5.8). */
export async function rotateApplication(
  { store, randomBytes, crc32, sha256 }: Context,
  organizationId: OrganizationId,
  applicationId: string,
): Promise<{ clientSecret: string }> {
  const clientSecret = generateClientSecret(randomBytes, crc32);
  const outcome = await store.rotateApplication(
    organizationId,
    applicationId as ApplicationId,
    sha256(clientSecret),
  );
  if (outcome === 'api-disabled') throw apiDisabled(organizationId);
  if (outcome === 'missing') throw applicationNotFound(applicationId);
  return { clientSecret };
}
