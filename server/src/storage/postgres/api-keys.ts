import type { ApiKey } from '../../domain/credential.ts';
import type { KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { ApiKeys } from '../store.ts';
import { auditText, auditValues, writeNote } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

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
  api_enabled: boolean;
}

/** A condition on the row of a key. The time is an expression, which is computed only for keys that end. */
export const keyIsLive = (time: string) => `(revoked_at IS NULL OR revoked_at > ${time})`;

// Both rows are held until the commit: whoever takes the organization out, or removes the member, waits and then sees the key.
const insert = {
  name: 'insert-api-key',
  text: `WITH issuer AS (
      SELECT id FROM organization WHERE id = $4 AND api_enabled FOR SHARE
    ), owner AS (
      SELECT user_id FROM member WHERE organization_id = $4 AND user_id = $6 FOR KEY SHARE
    ), made AS (
      INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
      SELECT $3, issuer.id, $5, $6, $7, $8, $9, ${now} FROM issuer
      WHERE $6::text IS NULL OR EXISTS (SELECT FROM owner) RETURNING created_at
    ), noted AS (${auditText('made', '$4', 'created_at', 10)})
    SELECT created_at FROM made`,
};
const apiEnabled = { name: 'is-api-enabled', text: 'SELECT api_enabled FROM organization WHERE id = $1' };
const revoke = {
  name: 'revoke-api-key',
  text: `WITH revoked AS (
      UPDATE api_key SET revoked_at = ${now}
      WHERE organization_id = $3 AND id = $4 AND ${keyIsLive(now)} RETURNING revoked_at
    ), noted AS (${auditText('revoked', '$3', 'revoked_at', 5)})
    SELECT id FROM api_key WHERE organization_id = $3 AND id = $4`,
};
const selectKeys = `SELECT id, name, user_id, hint, created_by, created_at, revoked_at, last_used_at
    FROM api_key LEFT JOIN credential_use
      ON credential_use.organization_id = api_key.organization_id AND credential_id = id
    WHERE api_key.organization_id = $1`;
const all = { name: 'list-api-keys', text: `${selectKeys} ORDER BY created_at, id` };
const find = { name: 'find-api-key', text: `${selectKeys} AND id = $2` };
const grant = {
  name: 'find-key-grant',
  text: `SELECT organization_id, api_key.id, user_id, api_enabled
    FROM api_key JOIN organization ON organization.id = organization_id
    WHERE hash = $3 AND ${keyIsLive(now)}`,
};

/** Held until the commit, in the order in which a key is made: whoever removes the member waits, and sees the new key. */
export const holdIssuer = {
  name: 'hold-issuer',
  text: 'SELECT api_enabled FROM organization WHERE id = $1 FOR SHARE',
};
export const holdOwner = {
  name: 'hold-owner',
  text: 'SELECT service FROM member WHERE organization_id = $1 AND user_id = $2 FOR KEY SHARE',
};
const endLater = {
  name: 'end-api-key-later',
  text: `UPDATE api_key SET revoked_at = ${now} + $5::bigint
    WHERE organization_id = $3 AND id = $4 AND revoked_at IS NULL RETURNING id`,
};
export const addKey = {
  name: 'add-api-key',
  text: `INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
    VALUES ($3, $4, $5, $6, $7, $8, $9, ${now})`,
};

export function postgresApiKeys(database: Database): ApiKeys {
  const { run, time } = database;
  return {
    async createApiKey(organizationId, { id, name, userId, hash, hint, createdBy }, note) {
      const values = [hash, organizationId, id, userId, name, hint, createdBy, ...auditValues(note)];
      const [made] = await run<{ created_at: number }>(insert, [...time.parameters(), ...values]);
      if (made !== undefined) return 'created';
      const [organization] = await run<{ api_enabled: boolean }>(apiEnabled, [organizationId]);
      if (organization === undefined) return 'organization-missing';
      return organization.api_enabled ? 'not-a-member' : 'api-disabled';
    },

    async revokeApiKey(organizationId, keyId, note) {
      const values = [organizationId, keyId, ...auditValues(note)];
      const revoked = await run(revoke, [...time.parameters(), ...values]);
      return revoked.length === 1 ? 'revoked' : 'missing';
    },

    rotateApiKey: (organizationId, keyId, { next, createdBy, oldValidMs }, note) =>
      database.transaction(async (runHere) => {
        const [old] = await runHere<ApiKeyRow>(find, [organizationId, keyId]);
        if (old === undefined) return 'missing';
        const [issuer] = await runHere<{ api_enabled: boolean }>(holdIssuer, [organizationId]);
        if (issuer?.api_enabled !== true) return 'api-disabled';
        const { user_id: userId, name } = old;
        if (userId !== null) {
          const [owner] = await runHere(holdOwner, [organizationId, userId]);
          if (owner === undefined) return 'missing';
        }
        const ended = await runHere(endLater, [...time.parameters(), organizationId, keyId, oldValidMs]);
        if (ended.length === 0) return 'revoked';
        const values = [next.hash, organizationId, next.id, userId, name, next.hint, createdBy];
        await runHere(addKey, [...time.parameters(), ...values]);
        await writeNote(runHere, time, organizationId, note);
        return 'rotated';
      }),

    listApiKeys: async (organizationId) => (await run<ApiKeyRow>(all, [organizationId])).map(toApiKey),

    async findApiKey(organizationId, keyId) {
      const [row] = await run<ApiKeyRow>(find, [organizationId, keyId]);
      return row && toApiKey(row);
    },

    async findKeyGrant(hash) {
      const [row] = await run<KeyGrantRow>(grant, [...time.parameters(), hash]);
      return (
        row && {
          organizationId: row.organization_id,
          keyId: row.id,
          userId: row.user_id,
          apiEnabled: row.api_enabled,
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
