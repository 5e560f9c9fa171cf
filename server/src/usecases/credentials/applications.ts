import { counted } from '../../../../runtime/src/pure/text.ts';
import type { Initiator } from '../../domain/audit.ts';
import type { OperatorAuthority } from '../../domain/authority.ts';
import { checkName } from '../../domain/check-name.ts';
import { type Application, generateClientSecret } from '../../domain/credential.ts';
import { type ApplicationId, isApplicationId } from '../../domain/id.ts';
import { authorize } from '../authorize.ts';
import type { Context, OrganizationCall } from '../context.ts';
import { auditNote, type Change, missingIn } from '../organization/audit-log.ts';
import { notIssued } from '../organization/organization.ts';

/** Returns the secret, which cannot be shown again: only its hash is stored. */
export async function createApplication(change: Change, name: string) {
  const { context, organizationId } = change;
  checkName("The application's name", name, 1);
  const { store, ids, randomBytes, crc32, sha256 } = context;
  const id = ids.application();
  const clientSecret = generateClientSecret(randomBytes, crc32);
  const secretHash = sha256(clientSecret);
  const note = auditNote(change, 'application.created', id, { name });
  const write = store.createApplication(organizationId, { id, name, secretHash }, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'created') return { id, clientSecret };
  const { organizationApplicationsMax: max } = context.limits;
  const tooMany = `The organization has reached the limit of ${counted(max, 'application')}. Delete unused ones.`;
  throw notIssued(change, outcome, tooMany);
}

/**
 * Signs access tokens with a new key, and returns its id. `forget`: invalidates every token signed with an older key.
 * Audited in each organization that has applications.
 */
export async function rotateSigningKey(
  call: { readonly context: Context; readonly initiator: Initiator<OperatorAuthority> },
  forget: boolean,
): Promise<string> {
  const { store, accessTokens } = call.context;
  const next = accessTokens.newKey();
  await store.rotateSigningKey(next, forget, auditNote(call, 'signing-key.rotated', next.id, { forget }));
  return next.id;
}

/** Returns the new secret. The old one and every token issued under it are void once this resolves (§5.8). */
export async function rotateApplication(change: Change, applicationId: string) {
  const { context, organizationId } = change;
  const { store, randomBytes, crc32, sha256 } = context;
  const { id, name } = await findApplication(change, applicationId);
  const clientSecret = generateClientSecret(randomBytes, crc32);
  const note = auditNote(change, 'application.rotated', id, { name });
  const write = store.rotateApplication(organizationId, id, sha256(clientSecret), note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'missing') throw missingIn(change, `application ${applicationId}`, 'app');
  if (outcome === 'api-disabled') throw notIssued(change, outcome);
  return { id, clientSecret };
}

/** The secret and every token issued under it are void once this resolves (§5.8). */
export async function deleteApplication(change: Change, applicationId: string): Promise<void> {
  const { context, organizationId } = change;
  const { id, name } = await findApplication(change, applicationId);
  const note = auditNote(change, 'application.deleted', id, { name });
  const write = context.store.deleteApplication(organizationId, id, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'missing') throw missingIn(change, `application ${applicationId}`, 'app');
}

async function findApplication(change: Change, applicationId: string): Promise<Application> {
  const { context, organizationId } = change;
  const applications = await context.store.listApplications(organizationId);
  const application = applications.find(({ id }) => id === applicationId);
  if (application === undefined) throw missingIn(change, `application ${applicationId}`, 'app');
  return application;
}

export function listApplications({ context, organizationId }: OrganizationCall): Promise<Application[]> {
  return context.store.listApplications(organizationId);
}

type TokenOutcome =
  | { outcome: 'issued'; accessToken: string; applicationId: ApplicationId }
  | { outcome: 'invalid-client' }
  /** The secret is right, but the public API is not enabled for the organization. */
  | { outcome: 'unauthorized-client' }
  | { outcome: 'throttled'; retryAfterSeconds: number };

/**
 * The client_credentials grant (RFC 6749 §4.4). After ten failures of a client from one network, further ones must wait.
 * The right secret is always accepted: its 178 bits cannot be guessed, and a guesser cannot lock the client out.
 */
export async function issueAccessToken(
  context: Context,
  { clientId, clientSecret, address }: Readonly<Record<'clientId' | 'clientSecret' | 'address', string>>,
): Promise<TokenOutcome> {
  const { store, sha256, equalHashes, failedAttempts, accessTokens } = context;
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

/** No known secret has this hash. */
const unmatchedHash = '0'.repeat(64);
