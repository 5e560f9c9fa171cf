import type { Organization } from '../../domain/organization.ts';
import type { Organizations } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import { type Database, type Stored, withFlags } from './database.ts';

type OrganizationRow = Stored<Organization>;

const selectOrganization = `SELECT id, name, api_enabled AS apiEnabled, daily_quota AS dailyQuota,
  created_at AS createdAt FROM organization`;

export function sqliteOrganizations(database: Database, commits: CommitQueue): Organizations {
  const writeNote = auditWriter(database);
  const insert = database.prepare<[string, string, number, number, number]>(
    'INSERT INTO organization (id, name, api_enabled, daily_quota, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const update = database.prepare<[number, number, string]>(
    'UPDATE organization SET api_enabled = ?, daily_quota = ? WHERE id = ?',
  );
  const byId = database.prepare<[string], OrganizationRow>(`${selectOrganization} WHERE id = ?`);
  const byName = database.prepare<[string], OrganizationRow>(`${selectOrganization} WHERE name = ? LIMIT 2`);
  const all = database.prepare<[], OrganizationRow>(`${selectOrganization} ORDER BY created_at, id`);

  return {
    createOrganization: ({ id, name, apiEnabled, dailyQuota }, note) =>
      commits.durable((clock) => {
        insert.run(id, name, Number(apiEnabled), dailyQuota, clock.now());
        writeNote(id, note, clock.now());
      }),

    updateOrganization: (organizationId, change, note) =>
      commits.durable((clock) => {
        const row = byId.get(organizationId);
        if (row === undefined) return undefined;
        const known = toOrganization(row);
        const { apiEnabled = known.apiEnabled, dailyQuota = known.dailyQuota } = change;
        if (apiEnabled === known.apiEnabled && dailyQuota === known.dailyQuota) return known;
        update.run(Number(apiEnabled), dailyQuota, organizationId);
        writeNote(organizationId, note, clock.now());
        return { ...known, apiEnabled, dailyQuota };
      }),

    async findOrganization(idOrName) {
      const named = byName.all(idOrName);
      const row = byId.get(idOrName) ?? (named.length === 1 ? named[0] : undefined);
      return row && toOrganization(row);
    },

    listOrganizations: async () => all.all().map(toOrganization),
  };
}

function toOrganization(row: OrganizationRow): Organization {
  return withFlags<Organization>(row, 'apiEnabled');
}
