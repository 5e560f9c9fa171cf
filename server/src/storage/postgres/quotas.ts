import type { OrganizationId } from '../../domain/id.ts';
import type { QuotaUse } from '../../domain/quota.ts';
import type { Quotas } from '../store.ts';
import type { Database } from './database.ts';

interface UseRow {
  used: number;
  daily_quota: number;
}

/** Requests of one organization that arrived in the same turn: they are counted by one statement. */
interface Together {
  count: number;
  readonly use: Promise<{ granted: number; used: number; limit: number }>;
}

/**
 * The row is locked first and read then, as the latest commit left it: of two nodes the second sees what the first took.
 * It needs no sync: a killed node loses nothing, a power cut the last moments.
 */
const take = {
  name: 'take-quota',
  text: `WITH before AS (
      SELECT used FROM quota_use WHERE organization_id = $1 AND day = $2 FOR UPDATE
    ), quota AS (
      SELECT daily_quota, set_config('synchronous_commit', 'off', true) FROM organization WHERE id = $1
    )
    UPDATE quota_use SET used = greatest(before.used, least(before.used + $3, daily_quota)) FROM before, quota
    WHERE organization_id = $1 AND day = $2 RETURNING before.used, daily_quota`,
};
export const beginDay = {
  name: 'begin-day',
  text: `INSERT INTO quota_use (organization_id, day, used) SELECT id, $2, 0 FROM organization WHERE id = $1
    ON CONFLICT DO NOTHING`,
};

export function postgresQuotas({ run }: Database): Quotas {
  const together = new Map<string, Together>();

  async function takeNow(organizationId: OrganizationId, day: number, count: number) {
    let [row] = await run<UseRow>(take, [organizationId, day, count]);
    if (row === undefined) {
      await run(beginDay, [organizationId, day]);
      [row] = await run<UseRow>(take, [organizationId, day, count]);
    }
    if (row === undefined) return { granted: 0, used: 0, limit: 0 };
    const granted = Math.min(count, Math.max(0, row.daily_quota - row.used));
    return { granted, used: row.used, limit: row.daily_quota };
  }

  function gather(organizationId: OrganizationId, day: number): Together {
    const name = `${organizationId} ${day}`;
    const gathered = together.get(name);
    if (gathered !== undefined) return gathered;
    const fresh: Together = {
      count: 0,
      use: new Promise((resolve, reject) => {
        setImmediate(() => {
          together.delete(name);
          takeNow(organizationId, day, fresh.count).then(resolve, reject);
        });
      }),
    };
    together.set(name, fresh);
    return fresh;
  }

  return {
    async consumeQuota(organizationId, day): Promise<QuotaUse> {
      const batch = gather(organizationId, day);
      batch.count += 1;
      const place = batch.count;
      const { granted, used, limit } = await batch.use;
      return { granted: place <= granted, limit, remaining: Math.max(0, limit - used - place) };
    },
  };
}
