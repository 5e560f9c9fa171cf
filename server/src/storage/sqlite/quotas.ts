import type { OrganizationId } from '../../domain/id.ts';
import type { QuotaUse } from '../../domain/quota.ts';
import type { Usages } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
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

/** Counts requests against quotas, those of one turn together: a write, but one that needs no sync. */
export interface QuotaCounter {
  consumeQuota(organizationId: OrganizationId, day: number): Promise<QuotaUse>;
  readQuota: Usages['readQuota'];
}

export function sqliteQuotas(database: Database, commits: CommitQueue): QuotaCounter {
  const current = database.prepare<[number, string], UseRow>(
    `SELECT coalesce(used, 0) AS used, daily_quota FROM organization
     LEFT JOIN quota_use ON organization_id = id AND day = ? WHERE id = ?`,
  );
  const add = database.prepare<[string, number, number]>(
    `INSERT INTO quota_use (organization_id, day, used) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET used = used + excluded.used`,
  );
  const together = new Map<string, Together>();

  function take(organizationId: OrganizationId, day: number, count: number) {
    const row = current.get(day, organizationId);
    if (row === undefined) return { granted: 0, used: 0, limit: 0 };
    const granted = Math.min(count, Math.max(0, row.daily_quota - row.used));
    if (granted > 0) add.run(organizationId, day, granted);
    return { granted, used: row.used, limit: row.daily_quota };
  }

  function gather(organizationId: OrganizationId, day: number): Together {
    const name = `${organizationId} ${day}`;
    const gathered = together.get(name);
    if (gathered !== undefined) return gathered;
    const fresh: Together = {
      count: 0,
      use: commits.unsynced(() => {
        together.delete(name);
        return take(organizationId, day, fresh.count);
      }),
    };
    // A commit that fails before it comes to us must not hold on to later requests.
    fresh.use.catch(() => together.delete(name));
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

    async readQuota(organizationId, day) {
      const row = current.get(day, organizationId);
      return row && { used: row.used, limit: row.daily_quota };
    },
  };
}
