import { type ApiKey, type KeyRequest, mayOwnKey } from '../../domain/credential.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { ApiKeys, CredentialName } from '../port/store.ts';
import { writeNote } from './audit.ts';
import {
  authorized,
  authorizedInTurn,
  findKeyGrant,
  isMember,
  keepMember,
  keyIsLive,
  lockMember,
} from './authority.ts';
import { jsonRows, sql, statement } from './sql.ts';
import { count, row, rows, run, type Transactions, type Work } from './work.ts';

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
  createApiKey: authorizedInTurn(write, function* (organization, organizationId, key, note) {
    if (organization === undefined) return 'organization-missing';
    if (!organization.apiEnabled) return 'api-disabled';
    if (key.userId !== null) {
      const { userId } = key;
      const owner = yield* row<{ service: boolean }>(keepMember, { organizationId, userId });
      // A service account may have been removed since, and added again as a person.
      if (owner === undefined || !mayOwnKey(note.authority, { userId, ...owner })) return 'not-a-member';
    }
    if (!(yield* mayAddKey(organizationId))) return 'too-many';
    yield* run(insert, { ...key, organizationId });
    yield* writeNote(organizationId, note);
    return 'created';
  }),

  revokeApiKey: authorized(write, function* (organizationId, keyId, note) {
    if ((yield* count(revoke, { organizationId, keyId })) === 0) {
      return (yield* count(find, { organizationId, keyId })) === 1 ? 'revoked' : 'missing';
    }
    yield* writeNote(organizationId, note);
    return 'revoked';
  }),

  rotateApiKey: authorizedInTurn(
    write,
    function* (organization, organizationId, keyId, { next, createdBy, oldValidMs }, note) {
      const old = yield* row<ApiKey>(find, { organizationId, keyId });
      if (old === undefined) return 'missing';
      if (!organization?.apiEnabled) return 'api-disabled';
      const { userId, name } = old;
      if (userId !== null && !(yield* isMember(organizationId, userId))) return 'missing';
      if (!(yield* mayAddKey(organizationId, oldValidMs === 0 ? 1 : 0))) return 'too-many';
      if ((yield* count(endLater, { organizationId, keyId, oldValidMs })) === 0) return 'revoked';
      yield* run(insert, { ...next, organizationId, userId, name, createdBy });
      yield* writeNote(organizationId, note);
      return 'rotated';
    },
  ),

  listApiKeys: (organizationId) => read(() => rows<ApiKey>(list, { organizationId })),

  findApiKey: (organizationId, keyId) => read(() => row<ApiKey>(find, { organizationId, keyId })),

  nameCredentials: (organizationId, ids) =>
    read(() =>
      rows<CredentialName>(nameCredentials, { organizationId, ids: jsonRows(ids.map((id) => ({ id }))) }),
    ),

  findKeyGrant: (hash) => read(() => findKeyGrant(hash)),

  createKeyRequest: authorizedInTurn(
    write,
    function* (organization, organizationId, { id: requestId, name, keepMs, waitingMax }, note) {
      const { userId } = note.authority;
      const member = yield* row<{ service: boolean }>(lockMember, { organizationId, userId });
      if (member?.service !== false) return 'not-a-member';
      if (!organization?.apiEnabled) return 'api-disabled';
      yield* run(removeEnded, { organizationId, userId });
      if ((yield* count(findWaiting, { organizationId, userId })) >= waitingMax) return 'too-many';
      yield* run(insertRequest, { organizationId, requestId, userId, name, keepMs });
      yield* writeNote(organizationId, note);
      return 'created';
    },
  ),

  listKeyRequests: (organizationId) => read(() => rows<KeyRequest>(listRequests, { organizationId })),

  decideKeyRequest: authorized(write, function* (organizationId, requestId, { state, by, keepMs }, note) {
    const values = { organizationId, requestId, state, by, keepMs };
    if ((yield* count(decide, values)) === 0) return 'missing';
    yield* writeNote(organizationId, note);
    return 'decided';
  }),

  redeemKeyRequest: authorizedInTurn(
    write,
    function* (organization, organizationId, requestId, secret, note) {
      const { userId } = note.authority;
      if (organization?.apiEnabled === false) return 'api-disabled';
      if (!(yield* isMember(organizationId, userId))) return 'missing';
      if (!(yield* mayAddKey(organizationId))) return 'too-many';
      type Request = { name: string; decidedBy: UserId | null };
      const request = yield* row<Request>(redeem, { organizationId, requestId, userId });
      if (request === undefined) return 'missing';
      const { name, decidedBy: createdBy } = request;
      yield* run(insert, { ...secret, organizationId, userId, name, createdBy });
      yield* writeNote(organizationId, note);
      return 'created';
    },
  ),
});
