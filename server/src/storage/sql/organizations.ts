import type { Organization } from '../../domain/organization.ts';
import type { Organizations } from '../store.ts';
import { writeNote } from './audit.ts';
import { sql, statement } from './sql.ts';
import { row, rows, run, type Transactions } from './work.ts';

const columns = sql`id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota", created_at AS "createdAt"`;

const insert = statement(
  'insert-organization',
)`INSERT INTO organization (id, name, api_enabled, daily_quota, created_at)
  VALUES (:id, :name, :apiEnabled, :dailyQuota, :now)`;
const lock = statement('lock-organization')`
  SELECT ${columns} FROM organization WHERE id = :organizationId FOR NO KEY UPDATE`;
const update = statement('update-organization')`
  UPDATE organization SET api_enabled = :apiEnabled, daily_quota = :dailyQuota WHERE id = :organizationId`;
const findByIdOrName = statement('find-organization')`SELECT ${columns} FROM organization WHERE id = :idOrName
  UNION ALL SELECT * FROM (
    SELECT ${columns} FROM organization WHERE name = :idOrName AND id <> :idOrName LIMIT 2) AS named`;
const list = statement('list-organizations')`SELECT ${columns} FROM organization ORDER BY created_at, id`;

export function organizations({ read, write }: Transactions): Organizations {
  return {
    createOrganization: (organization, note) =>
      write(function* () {
        yield* run(insert, { ...organization });
        yield* writeNote(organization.id, note);
      }),

    updateOrganization: (organizationId, change, note) =>
      write(function* () {
        const known = yield* row<Organization>(lock, { organizationId });
        if (known === undefined) return undefined;
        const { apiEnabled = known.apiEnabled, dailyQuota = known.dailyQuota } = change;
        if (apiEnabled === known.apiEnabled && dailyQuota === known.dailyQuota) return known;
        yield* run(update, { organizationId, apiEnabled, dailyQuota });
        yield* writeNote(organizationId, note);
        return { ...known, apiEnabled, dailyQuota };
      }),

    async findOrganization(idOrName) {
      const found = await read(() => rows<Organization>(findByIdOrName, { idOrName }));
      return found.find(({ id }) => id === idOrName) ?? (found.length === 1 ? found[0] : undefined);
    },

    listOrganizations: () => read(() => rows<Organization>(list)),
  };
}
