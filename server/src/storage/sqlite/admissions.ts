import type { OrganizationId } from '../../domain/id.ts';
import type { QuotaUse } from '../../domain/quota.ts';
import type { Admissions, ApiKeys, Applications, Usages } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface UseRow {
  used: number;
  daily_quota: number;
}

/** Requests of one organization that arrived in the same turn of the event loop. */
interface Batch {
  count: number;
  readonly use: Promise<{ granted: number; used: number; limit: number }>;
}

export function sqliteAdmissions(
  database: Database,
  commits: CommitQueue,
  {
    findKeyGrant,
    findApplicationGrant,
  }: Pick<ApiKeys & Applications, 'findKeyGrant' | 'findApplicationGrant'>,
): Admissions & Pick<Usages, 'readQuota'> {
  const { consumeQuota, readQuota } = quotaCounter(database, commits);
  return {
    async admitKey(hash, day) {
      const grant = await findKeyGrant(hash);
      if (grant === undefined) return undefined;
      const { organizationId, userId, keyId: credentialId, apiEnabled } = grant;
      const use = apiEnabled ? await consumeQuota(organizationId, day) : undefined;
      return { organizationId, userId, credentialId, use };
    },

    async admitApplication(organizationId, applicationId, epoch, day) {
      const grant = await findApplicationGrant(applicationId);
      if (grant?.organizationId !== organizationId || grant.epoch !== epoch) return undefined;
      const use = grant.apiEnabled ? await consumeQuota(organizationId, day) : undefined;
      return { organizationId, userId: null, credentialId: applicationId, use };
    },

    readQuota,
  };
}

/** Counts the requests of one turn of the event loop batches. The count is a write, but needs no sync. */
function quotaCounter(database: Database, commits: CommitQueue) {
  const current = database.prepare<[number, string], UseRow>(
    `SELECT coalesce(used, 0) AS used, daily_quota FROM organization
     LEFT JOIN quota_use ON organization_id = id AND day = ? WHERE id = ?`,
  );
  const add = database.prepare<[string, number, number]>(
    `INSERT INTO quota_use (organization_id, day, used) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET used = used + excluded.used`,
  );
  const batches = new Map<string, Batch>();

  function take(organizationId: OrganizationId, day: number, count: number) {
    const row = current.get(day, organizationId);
    if (row === undefined) return { granted: 0, used: 0, limit: 0 };
    const granted = Math.min(count, Math.max(0, row.daily_quota - row.used));
    if (granted > 0) add.run(organizationId, day, granted);
    return { granted, used: row.used, limit: row.daily_quota };
  }

  function gather(organizationId: OrganizationId, day: number): Batch {
    const name = `${organizationId} ${day}`;
    const known = batches.get(name);
    if (known !== undefined) return known;
    const fresh: Batch = {
      count: 0,
      use: commits.unsynced(() => {
        batches.delete(name);
        return take(organizationId, day, fresh.count);
      }),
    };
    // If the commit fails before this write runs, later requests must not join the failed batch.
    fresh.use.catch(() => batches.delete(name));
    batches.set(name, fresh);
    return fresh;
  }

  return {
    async consumeQuota(organizationId: OrganizationId, day: number): Promise<QuotaUse> {
      const batch = gather(organizationId, day);
      batch.count += 1;
      const place = batch.count;
      const { granted, used, limit } = await batch.use;
      return { granted: place <= granted, limit, remaining: Math.max(0, limit - used - place) };
    },

    async readQuota(organizationId: OrganizationId, day: number) {
      const row = current.get(day, organizationId);
      return row && { used: row.used, limit: row.daily_quota };
    },
  };
}
