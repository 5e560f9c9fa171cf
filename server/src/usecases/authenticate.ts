import { apiKeyPrefix, isWellFormedApiKey } from '../domain/credential.ts';
import { ServiceError } from '../domain/errors.ts';
import type { ApplicationId, KeyId } from '../domain/id.ts';
import type { Principal } from '../domain/principal.ts';
import type { Context } from './context.ts';

export interface Authenticated {
  readonly principal: Principal;
  readonly credentialId: KeyId | ApplicationId;
}

/**
 * Who a credential stands for: an API key, or an application's access token. Unknown, malformed, expired and revoked ones
 * are `UNAUTHORIZED`; a live one of an organization outside the beta finds nothing there (§7). What decides about
 * revocation is read anew at every call: it takes effect at once.
 */
export async function authenticate(context: Context, credential: string | undefined): Promise<Authenticated> {
  if (credential === undefined) throw unauthorized('Send a credential: Authorization: Bearer <credential>.');
  const found = credential.startsWith(apiKeyPrefix)
    ? await authenticateKey(context, credential)
    : await authenticateApplication(context, credential);
  if (!found.apiEnabled)
    throw new ServiceError('NOT_FOUND', 'The public API is not enabled for this organization.');
  return found;
}

type Found = Authenticated & { readonly apiEnabled: boolean };

async function authenticateKey({ store, crc32, sha256 }: Context, key: string): Promise<Found> {
  if (!isWellFormedApiKey(key, crc32)) throw malformed();
  const grant = await store.findKeyGrant(sha256(key));
  if (grant === undefined) throw unauthorized('The credential is unknown or was revoked.');
  const { organizationId, userId, keyId, apiEnabled } = grant;
  const principal: Principal =
    userId === null ? { kind: 'service', organizationId } : { kind: 'user', organizationId, userId };
  return { principal, credentialId: keyId, apiEnabled };
}

/** An application is always the organization's service identity (§5.2). */
async function authenticateApplication({ store, accessTokens }: Context, token: string): Promise<Found> {
  if (!accessTokenPattern.test(token)) throw malformed();
  const claims = await accessTokens.read(token);
  if (claims === undefined) throw unauthorized('The access token is not valid, or has expired.');
  const { applicationId, organizationId, epoch } = claims;
  const grant = await store.findApplicationGrant(applicationId);
  if (grant === undefined || grant.organizationId !== organizationId || grant.epoch !== epoch) {
    throw unauthorized('The access token was revoked: exchange the client credentials for a new one.');
  }
  const principal: Principal = { kind: 'service', organizationId };
  return { principal, credentialId: applicationId, apiEnabled: grant.apiEnabled };
}

const accessTokenPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/;

function malformed(): ServiceError {
  return unauthorized('The credential is malformed.');
}

function unauthorized(message: string): ServiceError {
  return new ServiceError('UNAUTHORIZED', message);
}
