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
  /** The secret is right, but the organization is not in the beta. */
  | { outcome: 'unauthorized-client' }
  | { outcome: 'throttled'; retryAfterSeconds: number };

/**
 * The client_credentials grant (RFC 6749 §4.4). After ten failures for a client from one address, further failures from
 * there must wait for the rest of the minute. The right secret is always accepted: its 178 bits cannot be guessed, and
 * a guesser cannot lock the client out.
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
  // Always compare, so that the response time does not show whether the client exists.
  const isRight = equalHashes(grant?.secretHash ?? unmatchedHash, sha256(clientSecret));
  if (grant === undefined || !isRight) {
    // Hashed to bound memory: client ids may have 16 KB, and 10,000 attempts are remembered.
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

/** No known secret has this hash. */
const unmatchedHash = '0'.repeat(64);
