import type { KeyAuthority } from '../../domain/authority.ts';
import {
  type AccessClaims,
  type AccessTokens,
  apiKeyPrefix,
  isWellFormedApiKey,
} from '../../domain/credential.ts';
import { notFound, type ServiceError, unauthorized } from '../../domain/errors.ts';
import type { ApplicationId, KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { QuotaUse } from '../../domain/organization.ts';
import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import { secondsUntilReset, utcDay } from '../../domain/time.ts';
import type { Store } from '../../storage/port/store.ts';

/** A credential that is well formed and, if it is a token, signed by us. It may have been revoked. */
export type Credential =
  | { readonly kind: 'key'; readonly hash: string }
  | ({ readonly kind: 'application' } & AccessClaims);

interface AdmissionNeeds {
  readonly store: Pick<Store, 'findKeyGrant' | 'findApplicationGrant' | 'admitKey' | 'admitApplication'>;
  readonly crc32: (text: string) => number;
  readonly sha256: (text: string) => string;
  readonly accessTokens: Pick<AccessTokens, 'read'>;
  readonly now: () => number;
}

export type Admission = ReturnType<typeof createAdmission>;

/** Who calls the public API, and whether they may. */
export function createAdmission({ store, crc32, sha256, accessTokens, now }: AdmissionNeeds) {
  return { readCredential, authenticate, admit, recheckKey };

  async function readCredential(text: string | undefined): Promise<Credential> {
    if (text === undefined)
      throw unauthorized('Missing credential. Send `Authorization: Bearer <credential>`.');
    // The header has another form: a key without the word Bearer, for example.
    if (text === '')
      throw unauthorized('Malformed Authorization header. Send `Authorization: Bearer <credential>`.');
    if (text.startsWith(apiKeyPrefix)) {
      if (!isWellFormedApiKey(text, crc32)) throw malformed();
      return { kind: 'key', hash: sha256(text) };
    }
    if (!accessTokenPattern.test(text)) throw malformed();
    const claims = await accessTokens.read(text);
    if (claims === undefined) throw unauthorized('Access token is invalid or expired.');
    return { kind: 'application', ...claims };
  }

  /** Asks the store every time, so a revocation takes effect at once. Counts no request. `NOT_FOUND` without the API (§7). */
  async function authenticate(credential: Credential): Promise<Principal> {
    if (credential.kind === 'key') {
      const grant = await store.findKeyGrant(credential.hash);
      if (grant === undefined) throw revoked(credential);
      if (!grant.apiEnabled) throw apiNotEnabled();
      return createPrincipal(grant.organizationId, grant.userId, credential);
    }
    const { applicationId, organizationId, epoch } = credential;
    const grant = await store.findApplicationGrant(applicationId);
    if (grant?.organizationId !== organizationId || grant.epoch !== epoch) throw revoked(credential);
    if (!grant.apiEnabled) throw apiNotEnabled();
    return createPrincipal(organizationId, null, credential);
  }

  /** Counts the request against today's quota (§8). Over the quota, the result has `granted: false`. */
  async function admit(credential: Credential): Promise<Admitted> {
    const at = now();
    const day = utcDay(at);
    const admission =
      credential.kind === 'key'
        ? await store.admitKey(credential.hash, day)
        : await store.admitApplication(
            credential.organizationId,
            credential.applicationId,
            credential.epoch,
            day,
          );
    if (admission === undefined) throw revoked(credential);
    if (admission.use === undefined) throw apiNotEnabled();
    const principal = createPrincipal(admission.organizationId, admission.userId, credential);
    return {
      ...admission.use,
      principal,
      credentialId: admission.credentialId,
      resetSeconds: secondsUntilReset(at),
    };
  }

  /** For a write whose key ended while the request was arriving. It fails as a new request would. */
  async function recheckKey({ keyHash }: KeyAuthority): Promise<never> {
    const credential: Credential = { kind: 'key', hash: keyHash };
    await authenticate(credential);
    throw revoked(credential);
  }
}

function createPrincipal(
  organizationId: OrganizationId,
  userId: UserId | null,
  credential: Credential,
): Principal | UserPrincipal {
  if (userId === null || credential.kind !== 'key') return { organizationId, userId: null };
  return { organizationId, userId, authority: { kind: 'key', userId, keyHash: credential.hash } };
}

export function revoked({ kind }: Credential): ServiceError {
  return unauthorized(
    kind === 'key'
      ? 'Unknown or revoked credential.'
      : 'Access token was revoked. Exchange the client credentials for a new one.',
  );
}

function apiNotEnabled(): ServiceError {
  return notFound('The public API is not enabled for this organization.');
}

const accessTokenPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/;

function malformed(): ServiceError {
  return unauthorized('Malformed credential. Check that you copied the whole key or access token.');
}

export interface Admitted extends QuotaUse {
  readonly principal: Principal;
  readonly credentialId: KeyId | ApplicationId;
  readonly resetSeconds: number;
}
