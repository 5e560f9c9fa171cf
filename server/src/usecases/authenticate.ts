import { apiKeyPrefix, isWellFormedApiKey } from '../domain/credential.ts';
import { ServiceError } from '../domain/errors.ts';
import type { KeyId } from '../domain/id.ts';
import type { Principal } from '../domain/principal.ts';
import type { Context } from './context.ts';

export interface Authenticated {
  readonly principal: Principal;
  readonly credentialId: KeyId;
}

/**
 * Who a credential stands for. Unknown, malformed and revoked ones are `UNAUTHORIZED`; a live one of an organization
 * outside the beta finds nothing there (§7). Nothing is remembered between calls: revocation takes effect at once.
 */
export async function authenticate(context: Context, credential: string | undefined): Promise<Authenticated> {
  if (credential === undefined) throw unauthorized('Send a credential: Authorization: Bearer <credential>.');
  if (!credential.startsWith(apiKeyPrefix) || !isWellFormedApiKey(credential, context.crc32)) {
    throw unauthorized('The credential is malformed.');
  }
  const grant = await context.store.findKeyGrant(context.sha256(credential));
  if (grant === undefined) throw unauthorized('The credential is unknown or was revoked.');
  if (!grant.apiEnabled)
    throw new ServiceError('NOT_FOUND', 'The public API is not enabled for this organization.');
  const { organizationId, userId, keyId } = grant;
  const principal: Principal =
    userId === null ? { kind: 'service', organizationId } : { kind: 'user', organizationId, userId };
  return { principal, credentialId: keyId };
}

function unauthorized(message: string): ServiceError {
  return new ServiceError('UNAUTHORIZED', message);
}
