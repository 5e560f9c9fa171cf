import type { ApiKey } from '../../domain/credential.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { ApiKeys, KeyGrant, NewApiKey } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import { type Database, type Stored, withFlags } from './database.ts';

/** A condition on the row of a key. Its parameter is the time. */
export const keyIsLive = '(revoked_at IS NULL OR revoked_at > ?)';

export function sqliteApiKeys(database: Database, commits: CommitQueue): ApiKeys {
  const writeNote = auditWriter(database);
  const apiEnabled = prepareApiEnabled(database);
  const insert = prepareInsertKey(database);
  const isMember = database.prepare<[string, string]>(
    'SELECT 1 FROM member WHERE organization_id = ? AND user_id = ?',
  );
  const revoke = database.prepare<[number, string, string, number]>(
    `UPDATE api_key SET revoked_at = ? WHERE organization_id = ? AND id = ? AND ${keyIsLive}`,
  );
  const endLater = database.prepare<[number, string, string]>(
    'UPDATE api_key SET revoked_at = ? WHERE organization_id = ? AND id = ? AND revoked_at IS NULL',
  );
  const selectKeys = `SELECT id, name, user_id AS userId, hint, created_by AS createdBy, created_at AS createdAt,
       revoked_at AS revokedAt, last_used_at AS lastUsedAt
     FROM api_key LEFT JOIN credential_use
       ON credential_use.organization_id = api_key.organization_id AND credential_id = id
     WHERE api_key.organization_id = ?`;
  const all = database.prepare<[string], ApiKey>(`${selectKeys} ORDER BY created_at, id`);
  const find = database.prepare<[string, string], ApiKey>(`${selectKeys} AND id = ?`);
  const grant = database.prepare<[string, number], Stored<KeyGrant>>(
    `SELECT organization_id AS organizationId, api_key.id AS keyId, user_id AS userId, api_enabled AS apiEnabled
     FROM api_key JOIN organization ON organization.id = organization_id
     WHERE hash = ? AND ${keyIsLive}`,
  );

  return {
    createApiKey: (organizationId, key, note) =>
      commits.durable((clock) => {
        const enabled = apiEnabled.get(organizationId);
        if (enabled === undefined) return 'organization-missing';
        if (enabled === 0) return 'api-disabled';
        const { userId } = key;
        if (userId !== null && isMember.get(organizationId, userId) === undefined) return 'not-a-member';
        insert(organizationId, key, clock.now());
        writeNote(organizationId, note, clock.now());
        return 'created';
      }),

    revokeApiKey: (organizationId, keyId, note) =>
      commits.durable((clock) => {
        const { changes } = revoke.run(clock.now(), organizationId, keyId, clock.now());
        if (changes === 1) writeNote(organizationId, note, clock.now());
        return changes === 1 || find.get(organizationId, keyId) !== undefined ? 'revoked' : 'missing';
      }),

    rotateApiKey: (organizationId, keyId, { next, createdBy, oldValidMs }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const old = find.get(organizationId, keyId);
        if (old === undefined) return 'missing';
        if (apiEnabled.get(organizationId) === 0) return 'api-disabled';
        const { userId, name } = old;
        if (userId !== null && isMember.get(organizationId, userId) === undefined) return 'missing';
        if (endLater.run(now + oldValidMs, organizationId, keyId).changes === 0) return 'revoked';
        insert(organizationId, { ...next, userId, name, createdBy }, now);
        writeNote(organizationId, note, now);
        return 'rotated';
      }),

    listApiKeys: async (organizationId) => all.all(organizationId),

    findApiKey: async (organizationId, keyId) => find.get(organizationId, keyId),

    async findKeyGrant(hash) {
      const row = grant.get(hash, commits.now());
      return row && withFlags<KeyGrant>(row, 'apiEnabled');
    },
  };
}

/** Whether the organization is in the beta, as 0 or 1. */
export function prepareApiEnabled(database: Database) {
  return database.prepare<[string], number>('SELECT api_enabled FROM organization WHERE id = ?').pluck();
}

/** To be called in a transaction. */
export function prepareInsertKey(
  database: Database,
): (organizationId: OrganizationId, key: NewApiKey, now: number) => void {
  const insert = database.prepare(
    `INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
     VALUES (@hash, @organizationId, @id, @userId, @name, @hint, @createdBy, @now)`,
  );
  return (organizationId, { id, hash, hint, name, userId, createdBy }, now) => {
    insert.run({ organizationId, id, hash, hint, name, userId, createdBy, now });
  };
}
