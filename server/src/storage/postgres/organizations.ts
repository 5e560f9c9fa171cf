import type { Organization } from '../../domain/organization.ts';
import type { Organizations } from '../store.ts';
import { insertNote, noteValues } from './audit.ts';
import type { Database } from './database.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

const columns = sql`id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota", created_at AS "createdAt"`;

const insert = statement('insert-organization')`WITH made AS (
    INSERT INTO organization (id, name, api_enabled, daily_quota, created_at, latest_at)
    SELECT :id, :name, :apiEnabled, :dailyQuota, at, at FROM (SELECT ${now} AS at) AS moment RETURNING id, created_at
  ), noted AS (${insertNote(sql`made`, sql`made.id`, sql`created_at`)})
  SELECT created_at FROM made`;
const update = statement('update-organization')`WITH changed AS (
    UPDATE organization
    SET api_enabled = coalesce(:apiEnabled, api_enabled), daily_quota = coalesce(:dailyQuota, daily_quota)
    WHERE id = :organizationId AND (api_enabled <> :apiEnabled OR daily_quota <> :dailyQuota) RETURNING ${columns}
  ), noted AS (${insertNote(sql`changed`, sql`changed.id`, now)})
  SELECT * FROM changed`;
const findById = statement(
  'read-organization',
)`SELECT ${columns} FROM organization WHERE id = :organizationId`;
const findByIdOrName = statement('find-organization')`SELECT ${columns} FROM organization WHERE id = :idOrName
  UNION ALL (SELECT ${columns} FROM organization WHERE name = :idOrName AND id <> :idOrName LIMIT 2)`;
const list = statement('list-organizations')`SELECT ${columns} FROM organization ORDER BY created_at, id`;

export function postgresOrganizations({ run, time }: Database): Organizations {
  return {
    async createOrganization(organization, note) {
      const [row] = await run<{ created_at: number }>(insert, { ...organization, ...noteValues(note) });
      time.see(row!.created_at);
    },

    async updateOrganization(organizationId, { apiEnabled = null, dailyQuota = null }, note) {
      const values = { organizationId, apiEnabled, dailyQuota, ...noteValues(note) };
      const [changed] = await run<Organization>(update, values);
      return changed ?? (await run<Organization>(findById, { organizationId }))[0];
    },

    async findOrganization(idOrName) {
      const rows = await run<Organization>(findByIdOrName, { idOrName });
      return rows.find(({ id }) => id === idOrName) ?? (rows.length === 1 ? rows[0] : undefined);
    },

    listOrganizations: () => run<Organization>(list),
  };
}
