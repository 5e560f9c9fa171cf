import { accessTokenScope, accessTokenSeconds } from '../../domain/access-token.ts';
import { type ApplicationId, isApplicationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';

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
 * The client_credentials grant (RFC 6749 §4.4). After ten failures for a client from one address further ones from there
 * are told to wait for the rest of a minute. The right secret is heard all the same: its 178 bits are not guessed, and
 * so nobody can lock a client out by guessing.
 */
export async function issueAccessToken(
  context: Context,
  credentials: ClientCredentials,
): Promise<TokenOutcome> {
  const result = await exchange(context, credentials);
  context.telemetry.tokenRequested(result.outcome);
  return result;
}

async function exchange(
  context: Context,
  { clientId, clientSecret, address }: ClientCredentials,
): Promise<TokenOutcome> {
  const { store, sha256, equalHashes, failedAttempts, accessTokens } = context;
  const grant = isApplicationId(clientId) ? await store.findApplicationGrant(clientId) : undefined;
  // Compared in any case, so that the time taken does not tell whether the client exists.
  const isRight = equalHashes(grant?.secretHash ?? nobodysHash, sha256(clientSecret));
  if (grant === undefined || !isRight) {
    // Hashed: ten thousand made-up clients of 16 KB each would fill the memory.
    const attempt = sha256(`${clientId} ${address}`);
    const retryAfterSeconds = failedAttempts.waitSeconds(attempt);
    if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds };
    failedAttempts.failed(attempt);
    return { outcome: 'invalid-client' };
  }
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
