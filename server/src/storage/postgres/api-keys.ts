import type { ApiKey } from '../../domain/credential.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { ApiKeys, KeyGrant, NewApiKey } from '../store.ts';
import { insertNote, noteValues, writeNote } from './audit.ts';
import type { Database, Run } from './database.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

/** A condition on the row of a key. The time is evaluated only for keys that have an end. */
export const keyIsLive = sql`(revoked_at IS NULL OR revoked_at > ${now})`;

const insertKey = sql`
  INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
  SELECT :hash, :organizationId, :id, :userId, :name, :hint, :createdBy, ${now}`;

// Both rows are locked until the commit, so that disabling the organization or removing the member waits and then sees the key.
const create = statement('insert-api-key')`WITH issuer AS (
    SELECT id FROM organization WHERE id = :organizationId AND api_enabled FOR SHARE
  ), owner AS (
    SELECT user_id FROM member WHERE organization_id = :organizationId AND user_id = :userId FOR KEY SHARE
  ), made AS (${insertKey} FROM issuer
    WHERE :userId::text IS NULL OR EXISTS (SELECT FROM owner) RETURNING created_at
  ), noted AS (${insertNote(sql`made`, sql`:organizationId`, sql`created_at`)})
  SELECT created_at FROM made`;
const revoke = statement('revoke-api-key')`WITH revoked AS (
    UPDATE api_key SET revoked_at = ${now}
    WHERE organization_id = :organizationId AND id = :keyId AND ${keyIsLive} RETURNING revoked_at
  ), noted AS (${insertNote(sql`revoked`, sql`:organizationId`, sql`revoked_at`)})
  SELECT id FROM api_key WHERE organization_id = :organizationId AND id = :keyId`;
const selectKeys = sql`
  SELECT id, name, user_id AS "userId", hint, created_by AS "createdBy", created_at AS "createdAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM api_key LEFT JOIN credential_use
    ON credential_use.organization_id = api_key.organization_id AND credential_id = id
  WHERE api_key.organization_id = :organizationId`;
const list = statement('list-api-keys')`${selectKeys} ORDER BY created_at, id`;
const find = statement('find-api-key')`${selectKeys} AND id = :keyId`;
const findGrant = statement('find-key-grant')`
  SELECT organization_id AS "organizationId", api_key.id AS "keyId", user_id AS "userId", api_enabled AS "apiEnabled"
  FROM api_key JOIN organization ON organization.id = organization_id WHERE hash = :hash AND ${keyIsLive}`;

const readApiEnabled = statement('is-api-enabled')`
  SELECT api_enabled AS enabled FROM organization WHERE id = :organizationId`;
const lockApiEnabled = statement('hold-issuer')`
  SELECT api_enabled AS enabled FROM organization WHERE id = :organizationId FOR SHARE`;
const lockOwner = statement('hold-owner')`
  SELECT FROM member WHERE organization_id = :organizationId AND user_id = :userId FOR KEY SHARE`;
const endLater = statement('end-api-key-later')`UPDATE api_key SET revoked_at = ${now} + :oldValidMs::bigint
  WHERE organization_id = :organizationId AND id = :keyId AND revoked_at IS NULL RETURNING id`;
const add = statement('add-api-key')`${insertKey}`;

/** Undefined if the organization does not exist. */
export async function isApiEnabled(run: Run, organizationId: OrganizationId): Promise<boolean | undefined> {
  return (await run<{ enabled: boolean }>(readApiEnabled, { organizationId }))[0]?.enabled;
}

/** The same, locked until the commit. Lock the organization before the member: the order in which a key is created. */
export async function holdApiEnabled(run: Run, organizationId: OrganizationId): Promise<boolean | undefined> {
  return (await run<{ enabled: boolean }>(lockApiEnabled, { organizationId }))[0]?.enabled;
}

/** In a transaction that has locked the organization and the owner. */
export async function addKey(run: Run, organizationId: OrganizationId, key: NewApiKey): Promise<void> {
  await run(add, { ...key, organizationId });
}

export function postgresApiKeys(database: Database): ApiKeys {
  const { run, time } = database;
  return {
    async createApiKey(organizationId, key, note) {
      const made = await run(create, { ...key, ...noteValues(note), organizationId });
      if (made.length === 1) return 'created';
      const enabled = await isApiEnabled(run, organizationId);
      if (enabled === undefined) return 'organization-missing';
      return enabled ? 'not-a-member' : 'api-disabled';
    },

    async revokeApiKey(organizationId, keyId, note) {
      const revoked = await run(revoke, { organizationId, keyId, ...noteValues(note) });
      return revoked.length === 1 ? 'revoked' : 'missing';
    },

    rotateApiKey: (organizationId, keyId, { next, createdBy, oldValidMs }, note) =>
      database.transaction(async (runHere) => {
        const [old] = await runHere<ApiKey>(find, { organizationId, keyId });
        if (old === undefined) return 'missing';
        if ((await holdApiEnabled(runHere, organizationId)) !== true) return 'api-disabled';
        const { userId, name } = old;
        if (userId !== null) {
          const owners = await runHere(lockOwner, { organizationId, userId });
          if (owners.length === 0) return 'missing';
        }
        const ended = await runHere(endLater, { organizationId, keyId, oldValidMs });
        if (ended.length === 0) return 'revoked';
        await addKey(runHere, organizationId, { ...next, userId, name, createdBy });
        await writeNote(runHere, time, organizationId, note);
        return 'rotated';
      }),

    listApiKeys: (organizationId) => run<ApiKey>(list, { organizationId }),

    findApiKey: async (organizationId, keyId) => (await run<ApiKey>(find, { organizationId, keyId }))[0],

    findKeyGrant: async (hash) => (await run<KeyGrant>(findGrant, { hash }))[0],
  };
}
