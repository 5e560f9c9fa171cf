import type { ApiKey } from '../../domain/credential.ts';
import type { KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { ApiKeys } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface ApiKeyRow {
  id: KeyId;
  name: string;
  user_id: UserId | null;
  hint: string;
  created_by: UserId | null;
  created_at: number;
  revoked_at: number | null;
  last_used_at: number | null;
}

interface KeyGrantRow {
  organization_id: OrganizationId;
  id: KeyId;
  user_id: UserId | null;
  api_enabled: number;
}

/** A condition on the row of a key; its parameter is the time. */
export const keyIsLive = '(revoked_at IS NULL OR revoked_at > ?)';

export function sqliteApiKeys(database: Database, commits: CommitQueue): ApiKeys {
  const writeNote = auditWriter(database);
  const apiEnabled = database
    .prepare<[string], number>('SELECT api_enabled FROM organization WHERE id = ?')
    .pluck();
  const isMember = database.prepare<[string, string]>(
    'SELECT 1 FROM member WHERE organization_id = ? AND user_id = ?',
  );
  const insert = database.prepare<
    [string, string, string, string | null, string, string, string | null, number]
  >(
    `INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const revoke = database.prepare<[number, string, string, number]>(
    `UPDATE api_key SET revoked_at = ? WHERE organization_id = ? AND id = ? AND ${keyIsLive}`,
  );
  const endLater = database.prepare<[number, string, string]>(
    'UPDATE api_key SET revoked_at = ? WHERE organization_id = ? AND id = ? AND revoked_at IS NULL',
  );
  const selectKeys = `SELECT id, name, user_id, hint, created_by, created_at, revoked_at, last_used_at
     FROM api_key LEFT JOIN credential_use
       ON credential_use.organization_id = api_key.organization_id AND credential_id = id
     WHERE api_key.organization_id = ?`;
  const all = database.prepare<[string], ApiKeyRow>(`${selectKeys} ORDER BY created_at, id`);
  const find = database.prepare<[string, string], ApiKeyRow>(`${selectKeys} AND id = ?`);
  const grant = database.prepare<[string, number], KeyGrantRow>(
    `SELECT organization_id, api_key.id, user_id, api_enabled
     FROM api_key JOIN organization ON organization.id = organization_id
     WHERE hash = ? AND ${keyIsLive}`,
  );

  return {
    createApiKey: (organizationId, { id, name, userId, hash, hint, createdBy }, note) =>
      commits.durable((clock) => {
        const enabled = apiEnabled.get(organizationId);
        if (enabled === undefined) return 'organization-missing';
        if (enabled === 0) return 'api-disabled';
        if (userId !== null && isMember.get(organizationId, userId) === undefined) return 'not-a-member';
        insert.run(hash, organizationId, id, userId, name, hint, createdBy, clock.now());
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
        const { user_id: userId, name } = old;
        if (userId !== null && isMember.get(organizationId, userId) === undefined) return 'missing';
        if (endLater.run(now + oldValidMs, organizationId, keyId).changes === 0) return 'revoked';
        insert.run(next.hash, organizationId, next.id, userId, name, next.hint, createdBy, now);
        writeNote(organizationId, note, now);
        return 'rotated';
      }),

    async listApiKeys(organizationId) {
      return all.all(organizationId).map(toApiKey);
    },

    async findApiKey(organizationId, keyId) {
      const row = find.get(organizationId, keyId);
      return row && toApiKey(row);
    },

    async findKeyGrant(hash) {
      const row = grant.get(hash, commits.now());
      return (
        row && {
          organizationId: row.organization_id,
          keyId: row.id,
          userId: row.user_id,
          apiEnabled: row.api_enabled === 1,
        }
      );
    },
  };
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    userId: row.user_id,
    hint: row.hint,
    createdBy: row.created_by,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
