import type { OrganizationId } from '../../domain/id.ts';
import type { Organization } from '../../domain/organization.ts';
import type { Organizations } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface OrganizationRow {
  id: OrganizationId;
  name: string;
  api_enabled: boolean;
  daily_quota: number;
  created_at: number;
}

const columns = 'id, name, api_enabled, daily_quota, created_at';

const insert = {
  name: 'insert-organization',
  text: `WITH made AS (
      INSERT INTO organization (id, name, api_enabled, daily_quota, created_at, latest_at)
      SELECT $3, $4, $5, $6, at, at FROM (SELECT ${now} AS at) AS moment RETURNING id, created_at
    ), noted AS (${auditText('made', 'made.id', 'created_at', 7)})
    SELECT created_at FROM made`,
};
const update = {
  name: 'update-organization',
  text: `WITH changed AS (
      UPDATE organization SET api_enabled = coalesce($4, api_enabled), daily_quota = coalesce($5, daily_quota)
      WHERE id = $3 AND (api_enabled <> $4 OR daily_quota <> $5) RETURNING ${columns}
    ), noted AS (${auditText('changed', 'changed.id', now, 6)})
    SELECT ${columns} FROM changed`,
};
const byId = { name: 'read-organization', text: `SELECT ${columns} FROM organization WHERE id = $1` };
const byIdOrName = {
  name: 'find-organization',
  text: `SELECT ${columns} FROM organization WHERE id = $1
    UNION ALL (SELECT ${columns} FROM organization WHERE name = $1 AND id <> $1 LIMIT 2)`,
};
const all = {
  name: 'list-organizations',
  text: `SELECT ${columns} FROM organization ORDER BY created_at, id`,
};

export function postgresOrganizations({ run, time }: Database): Organizations {
  return {
    async createOrganization({ id, name, apiEnabled, dailyQuota }, note) {
      const [row] = await run<{ created_at: number }>(insert, [
        ...time.parameters(),
        id,
        name,
        apiEnabled,
        dailyQuota,
        ...auditValues(note),
      ]);
      time.see(row!.created_at);
    },

    async updateOrganization(organizationId, { apiEnabled, dailyQuota }, note) {
      const [changed] = await run<OrganizationRow>(update, [
        ...time.parameters(),
        organizationId,
        apiEnabled ?? null,
        dailyQuota ?? null,
        ...auditValues(note),
      ]);
      const row = changed ?? (await run<OrganizationRow>(byId, [organizationId]))[0];
      return row && toOrganization(row);
    },

    async findOrganization(idOrName) {
      const rows = await run<OrganizationRow>(byIdOrName, [idOrName]);
      const row = rows.find(({ id }) => id === idOrName) ?? (rows.length === 1 ? rows[0] : undefined);
      return row && toOrganization(row);
    },

    listOrganizations: async () => (await run<OrganizationRow>(all, [])).map(toOrganization),
  };
}

function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    apiEnabled: row.api_enabled,
    dailyQuota: row.daily_quota,
    createdAt: row.created_at,
  };
}
