import { counted } from '../../../../runtime/src/pure/text.ts';
import type { AttemptLimit } from '../../domain/attempts.ts';
import type { Initiator } from '../../domain/audit.ts';
import type { OperatorAuthority } from '../../domain/authority.ts';
import { checkName } from '../../domain/check-name.ts';
import { type AccessTokens, type Application, generateClientSecret } from '../../domain/credential.ts';
import {
  type ApplicationId,
  type IdGenerator,
  isApplicationId,
  type OrganizationId,
} from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote, type Change, missingIn } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import { notIssued, type SecretSource } from './new-key.ts';

interface ApplicationNeeds {
  readonly store: Pick<
    Store,
    'createApplication' | 'rotateApplication' | 'deleteApplication' | 'listApplications' | 'rotateSigningKey'
  >;
  readonly ids: Pick<IdGenerator, 'event' | 'application'>;
  readonly secrets: SecretSource;
  readonly limits: Pick<Limits, 'organizationApplicationsMax'>;
  readonly accessTokens: Pick<AccessTokens, 'newKey'>;
  readonly authorize: Authorize;
}

export type Applications = ReturnType<typeof createApplications>;

export function createApplications(needs: ApplicationNeeds) {
  const { store, ids, secrets, limits, accessTokens, authorize } = needs;
  return { create, rotateSigningKey, rotate, remove, list };

  /** Returns the secret, which cannot be shown again: only its hash is stored. */
  async function create(change: Change, name: string) {
    const { organizationId, initiator } = change;
    checkName("The application's name", name, 1);
    const id = ids.application();
    const clientSecret = generateClientSecret(secrets.randomBytes, secrets.crc32);
    const secretHash = secrets.sha256(clientSecret);
    const note = auditNote(ids, initiator, 'application.created', id, { name });
    const write = store.createApplication(organizationId, { id, name, secretHash }, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'created') return { id, clientSecret };
    const { organizationApplicationsMax: max } = limits;
    const tooMany = `The organization has reached the limit of ${counted(max, 'application')}. Delete unused ones.`;
    throw notIssued(change, outcome, tooMany);
  }

  /**
   * Signs access tokens with a new key, and returns its id. `forget`: invalidates every token signed with an older key.
   * Audited in each organization that has applications.
   */
  async function rotateSigningKey(initiator: Initiator<OperatorAuthority>, forget: boolean): Promise<string> {
    const next = accessTokens.newKey();
    await store.rotateSigningKey(
      next,
      forget,
      auditNote(ids, initiator, 'signing-key.rotated', next.id, { forget }),
    );
    return next.id;
  }

  /** Returns the new secret. The old one and every token issued under it are void once this resolves (§5.8). */
  async function rotate(change: Change, applicationId: string) {
    const { organizationId, initiator } = change;
    const { id, name } = await find(change, applicationId);
    const clientSecret = generateClientSecret(secrets.randomBytes, secrets.crc32);
    const note = auditNote(ids, initiator, 'application.rotated', id, { name });
    const write = store.rotateApplication(organizationId, id, secrets.sha256(clientSecret), note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'missing') throw missingIn(change, `application ${applicationId}`, 'app');
    if (outcome === 'api-disabled') throw notIssued(change, outcome);
    return { id, clientSecret };
  }

  /** The secret and every token issued under it are void once this resolves (§5.8). */
  async function remove(change: Change, applicationId: string): Promise<void> {
    const { organizationId, initiator } = change;
    const { id, name } = await find(change, applicationId);
    const note = auditNote(ids, initiator, 'application.deleted', id, { name });
    const write = store.deleteApplication(organizationId, id, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'missing') throw missingIn(change, `application ${applicationId}`, 'app');
  }

  function list(organizationId: OrganizationId): Promise<Application[]> {
    return store.listApplications(organizationId);
  }

  async function find(change: Change, applicationId: string): Promise<Application> {
    const applications = await store.listApplications(change.organizationId);
    const application = applications.find(({ id }) => id === applicationId);
    if (application === undefined) throw missingIn(change, `application ${applicationId}`, 'app');
    return application;
  }
}

type TokenOutcome =
  | { outcome: 'issued'; accessToken: string; applicationId: ApplicationId }
  | { outcome: 'invalid-client' }
  /** The secret is right, but the public API is not enabled for the organization. */
  | { outcome: 'unauthorized-client' }
  | { outcome: 'throttled'; retryAfterSeconds: number };

interface TokenNeeds {
  readonly store: Pick<Store, 'findApplicationGrant'>;
  readonly sha256: (text: string) => string;
  /** Compares two hexadecimal hashes in constant time. */
  readonly equalHashes: (one: string, other: string) => boolean;
  readonly failedAttempts: AttemptLimit;
  readonly accessTokens: Pick<AccessTokens, 'issue'>;
}

export type IssueAccessToken = ReturnType<typeof createTokenIssuer>;

export function createTokenIssuer(needs: TokenNeeds) {
  const { store, sha256, equalHashes, failedAttempts, accessTokens } = needs;
  return issueAccessToken;

  /**
   * The client_credentials grant (RFC 6749 §4.4). After ten failures of a client from one network, further ones must wait.
   * The right secret is always accepted: its 178 bits cannot be guessed, and a guesser cannot lock the client out.
   */
  async function issueAccessToken({
    clientId,
    clientSecret,
    address,
  }: Readonly<Record<'clientId' | 'clientSecret' | 'address', string>>): Promise<TokenOutcome> {
    const grant = isApplicationId(clientId) ? await store.findApplicationGrant(clientId) : undefined;
    // Always compare, so that the response time does not show whether the client exists.
    const isRight = equalHashes(grant?.secretHash ?? unmatchedHash, sha256(clientSecret));
    if (grant === undefined || !isRight) {
      // Hashed to bound memory: client IDs may be 16 KB long, and 10,000 attempts are remembered.
      const attempt = sha256(`${clientId} ${address}`);
      const retryAfterSeconds = failedAttempts.waitSeconds(attempt);
      if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds };
      failedAttempts.count(attempt);
      return { outcome: 'invalid-client' };
    }
    if (!grant.apiEnabled) return { outcome: 'unauthorized-client' };
    const applicationId = clientId as ApplicationId;
    const { organizationId, epoch } = grant;
    const accessToken = await accessTokens.issue({ applicationId, organizationId, epoch });
    return { outcome: 'issued', accessToken, applicationId };
  }
}

/** No known secret has this hash. */
const unmatchedHash = '0'.repeat(64);
