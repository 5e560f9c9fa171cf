import { accessTokenScope, accessTokenSeconds } from '../domain/access-token.ts';
import type { ApplicationId } from '../domain/id.ts';
import type { Context } from './context.ts';

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the attempt comes from. */
  readonly address: string;
}

export type TokenOutcome =
  | {
      outcome: 'issued';
      accessToken: string;
      expiresInSeconds: number;
      scope: string;
      applicationId: ApplicationId;
    }
  | { outcome: 'invalid-client' }
  /** The client is who it says; its organization is not in the beta. */
  | { outcome: 'unauthorized-client' }
  | { outcome: 'throttled'; retryAfterSeconds: number };

/**
 * The client_credentials grant (RFC 6749 §4.4). After ten failures for a client from one address its next attempts from
 * there are refused unheard for the rest of a minute, unless they bring the secret that was right before: whoever
 * guesses is slowed down, and locks nobody out.
 */
export async function issueAccessToken(
  context: Context,
  { clientId, clientSecret, address }: ClientCredentials,
): Promise<TokenOutcome> {
  const { store, sha256, equalHashes, failedAttempts, rightSecrets, accessTokens } = context;
  const hash = sha256(clientSecret);
  // Hashed: ten thousand made-up clients of 16 KB each would fill the memory.
  const attempt = sha256(`${clientId} ${address}`);
  const wait = failedAttempts.waitSeconds(attempt);
  const wasRight = equalHashes(rightSecrets.get(clientId) ?? nobodysHash, hash);
  if (wait > 0 && !wasRight) return { outcome: 'throttled', retryAfterSeconds: wait };
  const grant = await store.findApplicationGrant(clientId);
  // Compared in any case, so that the time taken does not tell whether the client exists.
  const isRight = equalHashes(grant?.secretHash ?? nobodysHash, hash);
  if (grant === undefined || !isRight) {
    if (wasRight) rightSecrets.delete(clientId);
    failedAttempts.failed(attempt);
    return { outcome: 'invalid-client' };
  }
  rightSecrets.set(clientId, hash);
  if (!grant.apiEnabled) return { outcome: 'unauthorized-client' };
  const applicationId = clientId as ApplicationId;
  const { organizationId, epoch } = grant;
  const accessToken = await accessTokens.issue({ applicationId, organizationId, epoch });
  return {
    outcome: 'issued',
    accessToken,
    expiresInSeconds: accessTokenSeconds,
    scope: accessTokenScope,
    applicationId,
  };
}

/** No secret has this hash that anyone knows of. */
const nobodysHash = '0'.repeat(64);
