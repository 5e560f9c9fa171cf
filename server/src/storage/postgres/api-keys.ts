import type { ApiKey } from '../../domain/credential.ts';
import type { KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { ApiKeys } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
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
      WHERE organization_id = $3 AND id = $4 AND revoked_at IS NULL RETURNING revoked_at
    ), noted AS (${auditText('revoked', '$3', 'revoked_at', 5)})
    SELECT id FROM api_key WHERE organization_id = $3 AND id = $4`,
};
const all = {
  name: 'list-api-keys',
  text: `SELECT id, name, user_id, hint, created_by, created_at, revoked_at, last_used_at
    FROM api_key LEFT JOIN credential_use
      ON credential_use.organization_id = api_key.organization_id AND credential_id = id
    WHERE api_key.organization_id = $1 ORDER BY created_at, id`,
};
const grant = {
  name: 'find-key-grant',
  text: `SELECT organization_id, api_key.id, user_id, api_enabled
    FROM api_key JOIN organization ON organization.id = organization_id
    WHERE hash = $1 AND revoked_at IS NULL`,
};

export function postgresApiKeys({ run, time }: Database): ApiKeys {
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

    listApiKeys: async (organizationId) => (await run<ApiKeyRow>(all, [organizationId])).map(toApiKey),

    async findKeyGrant(hash) {
      const [row] = await run<KeyGrantRow>(grant, [hash]);
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
