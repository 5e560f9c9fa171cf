import type { Actor } from '../../domain/audit.ts';
import type { ApiKey, KeyRequest } from '../../domain/credential.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { Organization } from '../../domain/organization.ts';
import type { ApiKeys, AuditNote, CredentialName, KeyGrant } from '../store.ts';
import { writeNote } from './audit.ts';
import { jsonRows, sql, statement } from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

export const keyIsLive = sql`(revoked_at IS NULL OR revoked_at > :now)`;

/**
 * The user is locked before their sessions and passwords are read. A password change takes a stronger lock: it either waits,
 * and then ends the new session and revokes the new key, or commits first, and what it has changed is read.
 */
export const lockForSession = statement('lock-user-of-session')`
  SELECT 1 FROM "user" WHERE id = :userId FOR SHARE`;
const readLive = statement('read-live-session')`
  SELECT 1 FROM session WHERE token_hash = :sessionHash AND expires_at > :now`;

/** Call it with the organization locked: organizations are locked before people. */
function* isSignedOut({ actor, sessionHash }: AuditNote): Work<boolean> {
  if (sessionHash === undefined || actor.kind !== 'user') return false;
  yield* run(lockForSession, { userId: actor.userId });
  return (yield* count(readLive, { sessionHash })) === 0;
}

export const organizationColumns = sql`id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
  created_at AS "createdAt"`;
// Changes of settings, members, roles and credentials wait for each other, so that each sees what was committed before it.
// Of two admins who remove each other at once, the second finds no other admin. The members are locked after it.
export const lockOrganization = statement('lock-organization')`
  SELECT ${organizationColumns} FROM organization WHERE id = :organizationId FOR NO KEY UPDATE`;
const selectMember = sql`SELECT service FROM member WHERE organization_id = :organizationId AND user_id = :userId`;
/** Until the commit, a removal of the member waits, and then also removes what was added for them. */
export const keepMember = statement('keep-member')`${selectMember} FOR KEY SHARE`;
/** Two writes for one member wait for each other, and the second one sees what the first one has committed. */
export const lockMember = statement('lock-member')`${selectMember} FOR NO KEY UPDATE`;
const insert = statement('insert-api-key')`
  INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
  VALUES (:hash, :organizationId, :id, :userId, :name, :hint, :createdBy, :now)`;
const revoke = statement('revoke-api-key')`UPDATE api_key SET revoked_at = :now
  WHERE organization_id = :organizationId AND id = :keyId AND ${keyIsLive} RETURNING id`;
const endLater = statement('end-api-key-later')`
  UPDATE api_key SET revoked_at = :now + CAST(:oldValidMs AS bigint)
  WHERE organization_id = :organizationId AND id = :keyId AND revoked_at IS NULL RETURNING id`;
const selectKeys = sql`
  SELECT id, name, user_id AS "userId", hint, created_by AS "createdBy", created_at AS "createdAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM api_key LEFT JOIN credential_use
    ON credential_use.organization_id = api_key.organization_id AND credential_id = id
  WHERE api_key.organization_id = :organizationId`;
// Without OR: SQLite would read all keys of the organization.
const list = statement('list-api-keys')`SELECT * FROM (${selectKeys} AND revoked_at IS NULL) AS live
  UNION ALL SELECT * FROM (${selectKeys} AND revoked_at > :now) AS ending
  UNION ALL SELECT * FROM (
    ${selectKeys} AND revoked_at <= :now ORDER BY revoked_at DESC LIMIT ${defaultLimits.revokedKeysListedMax}) AS revoked
  ORDER BY "createdAt", id`;
const countLive = statement('count-live-api-keys')`
  SELECT (SELECT count(*) FROM api_key WHERE organization_id = :organizationId AND revoked_at IS NULL)
    + (SELECT count(*) FROM api_key WHERE organization_id = :organizationId AND revoked_at > :now) AS keys`;
// CROSS JOIN: SQLite would parse the ids again for each key of the organization.
export const nameCredentials = statement('name-credentials')`
  SELECT api_key.id, CASE WHEN name = '' THEN hint ELSE name END AS name
  FROM json_each(:ids) AS entry CROSS JOIN api_key
  WHERE organization_id = :organizationId AND api_key.id = (value ->> 'id')
  UNION ALL
  SELECT application.id, name
  FROM json_each(:ids) AS entry CROSS JOIN application
  WHERE application.id = (value ->> 'id') AND organization_id = :organizationId`;
const find = statement('find-api-key')`${selectKeys} AND id = :keyId`;
const findGrant = statement('find-key-grant')`
  SELECT organization_id AS "organizationId", api_key.id AS "keyId", user_id AS "userId", api_enabled AS "apiEnabled"
  FROM api_key JOIN organization ON organization.id = organization_id WHERE hash = :hash AND ${keyIsLive}`;

export const findKeyGrant = (hash: string): Work<KeyGrant | undefined> => row<KeyGrant>(findGrant, { hash });

/** Undefined if the organization does not exist. */
export function* lockApiEnabled(organizationId: OrganizationId): Work<boolean | undefined> {
  return (yield* row<Organization>(lockOrganization, { organizationId }))?.apiEnabled;
}

export function* isMember(organizationId: OrganizationId, userId: UserId): Work<boolean> {
  return (yield* count(keepMember, { organizationId, userId })) === 1;
}

/** A person acts in an organization only as a member. */
export function* mayAct(organizationId: OrganizationId, actor: Actor): Work<boolean> {
  return actor.kind !== 'user' || (yield* isMember(organizationId, actor.userId));
}

/** Call it with the organization locked. */
function* mayAddKey(organizationId: OrganizationId, revokedNow = 0): Work<boolean> {
  const { keys } = (yield* row<{ keys: number }>(countLive, { organizationId }))!;
  return keys - revokedNow < defaultLimits.organizationKeysMax;
}

const removeEnded = statement('remove-ended-key-requests')`DELETE FROM key_request
  WHERE organization_id = :organizationId AND user_id = :userId AND (expires_at <= :now OR state = 'declined')`;
const findWaiting = statement('find-waiting-key-requests')`SELECT id FROM key_request
  WHERE organization_id = :organizationId AND user_id = :userId`;
const insertRequest = statement('insert-key-request')`
  INSERT INTO key_request (organization_id, id, user_id, name, state, requested_at, expires_at)
  SELECT :organizationId, :requestId, :userId, :name, 'pending', at, at + CAST(:keepMs AS bigint)
  FROM (SELECT :now AS at) AS moment`;
const listRequests = statement('list-key-requests')`
  SELECT id, user_id AS "userId", name, state, requested_at AS "requestedAt", expires_at AS "expiresAt"
  FROM key_request WHERE organization_id = :organizationId AND expires_at > :now ORDER BY id`;
const decide = statement('decide-key-request')`
  UPDATE key_request SET state = :state, decided_by = :by, expires_at = :now + CAST(:keepMs AS bigint)
  WHERE organization_id = :organizationId AND id = :requestId AND state = 'pending' AND expires_at > :now
  RETURNING id`;
const redeem = statement('redeem-key-request')`DELETE FROM key_request
  WHERE organization_id = :organizationId AND id = :requestId AND user_id = :userId AND state = 'approved'
    AND expires_at > :now
  RETURNING name, decided_by AS "decidedBy"`;

export const apiKeys = ({ read, write }: Transactions): ApiKeys => ({
  createApiKey: method(write, function* (organizationId, key, note) {
    const enabled = yield* lockApiEnabled(organizationId);
    if (enabled === undefined) return 'organization-missing';
    if (yield* isSignedOut(note)) return 'signed-out';
    if (!enabled) return 'api-disabled';
    if (key.userId !== null && !(yield* isMember(organizationId, key.userId))) return 'not-a-member';
    if (!(yield* mayAddKey(organizationId))) return 'too-many';
    yield* run(insert, { ...key, organizationId });
    yield* writeNote(organizationId, note);
    return 'created';
  }),

  revokeApiKey: method(write, function* (organizationId, keyId, note) {
    if ((yield* count(revoke, { organizationId, keyId })) === 0) {
      return (yield* count(find, { organizationId, keyId })) === 1 ? 'revoked' : 'missing';
    }
    yield* writeNote(organizationId, note);
    return 'revoked';
  }),

  rotateApiKey: method(write, function* (organizationId, keyId, { next, createdBy, oldValidMs }, note) {
    const old = yield* row<ApiKey>(find, { organizationId, keyId });
    if (old === undefined) return 'missing';
    if (!(yield* lockApiEnabled(organizationId))) return 'api-disabled';
    if (yield* isSignedOut(note)) return 'signed-out';
    const { userId, name } = old;
    if (userId !== null && !(yield* isMember(organizationId, userId))) return 'missing';
    if (!(yield* mayAddKey(organizationId, oldValidMs === 0 ? 1 : 0))) return 'too-many';
    if ((yield* count(endLater, { organizationId, keyId, oldValidMs })) === 0) return 'revoked';
    yield* run(insert, { ...next, organizationId, userId, name, createdBy });
    yield* writeNote(organizationId, note);
    return 'rotated';
  }),

  listApiKeys: (organizationId) => read(() => rows<ApiKey>(list, { organizationId })),

  findApiKey: (organizationId, keyId) => read(() => row<ApiKey>(find, { organizationId, keyId })),

  nameCredentials: (organizationId, ids) =>
    read(() =>
      rows<CredentialName>(nameCredentials, { organizationId, ids: jsonRows(ids.map((id) => ({ id }))) }),
    ),

  findKeyGrant: (hash) => read(() => findKeyGrant(hash)),

  createKeyRequest: method(
    write,
    function* (organizationId, { id: requestId, userId, name, keepMs, waitingMax }, note) {
      const enabled = yield* lockApiEnabled(organizationId);
      const member = yield* row<{ service: boolean }>(lockMember, { organizationId, userId });
      if (member?.service !== false) return 'not-a-member';
      if (!enabled) return 'api-disabled';
      yield* run(removeEnded, { organizationId, userId });
      if ((yield* count(findWaiting, { organizationId, userId })) >= waitingMax) return 'too-many';
      yield* run(insertRequest, { organizationId, requestId, userId, name, keepMs });
      yield* writeNote(organizationId, note);
      return 'created';
    },
  ),

  listKeyRequests: (organizationId) => read(() => rows<KeyRequest>(listRequests, { organizationId })),

  decideKeyRequest: method(write, function* (organizationId, requestId, { state, by, keepMs }, note) {
    const values = { organizationId, requestId, state, by, keepMs };
    if ((yield* count(decide, values)) === 0) return 'missing';
    yield* writeNote(organizationId, note);
    return 'decided';
  }),

  redeemKeyRequest: method(write, function* (organizationId, requestId, userId, secret, note) {
    if ((yield* lockApiEnabled(organizationId)) === false) return 'api-disabled';
    if (yield* isSignedOut(note)) return 'signed-out';
    if (!(yield* isMember(organizationId, userId))) return 'missing';
    if (!(yield* mayAddKey(organizationId))) return 'too-many';
    type Request = { name: string; decidedBy: UserId | null };
    const request = yield* row<Request>(redeem, { organizationId, requestId, userId });
    if (request === undefined) return 'missing';
    const { name, decidedBy: createdBy } = request;
    yield* run(insert, { ...secret, organizationId, userId, name, createdBy });
    yield* writeNote(organizationId, note);
    return 'created';
  }),
});
