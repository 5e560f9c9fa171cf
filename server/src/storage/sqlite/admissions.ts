import type { OrganizationId } from '../../domain/id.ts';
import type { QuotaUse } from '../../domain/quota.ts';
import type { Admissions, ApiKeys, Applications, UsageCount, Usages } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface UseRow {
  used: number;
  limit: number;
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

/** Counts the requests of one turn of the event loop together. The count is a write, but needs no sync. */
function quotaCounter(database: Database, commits: CommitQueue) {
  const current = database.prepare<[object], UseRow>(
    `SELECT coalesce(used, 0) AS used, daily_quota AS "limit" FROM organization
     LEFT JOIN quota_use ON organization_id = id AND day = @day WHERE id = @organizationId`,
  );
  const add = database.prepare(
    `INSERT INTO quota_use (organization_id, day, used) VALUES (@organizationId, @day, @granted)
     ON CONFLICT DO UPDATE SET used = used + excluded.used`,
  );
  const batches = new Map<string, Batch>();

  function take(organizationId: OrganizationId, day: number, count: number) {
    const { used, limit } = current.get({ organizationId, day }) ?? { used: 0, limit: 0 };
    const granted = Math.min(count, Math.max(0, limit - used));
    if (granted > 0) add.run({ organizationId, day, granted });
    return { granted, used, limit };
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

    readQuota: async (organizationId: OrganizationId, day: number) => current.get({ organizationId, day }),
  };
}

/** Statistics: a power cut may lose the last ones. */
export function sqliteUsages(database: Database, commits: CommitQueue): Omit<Usages, 'readQuota'> {
  // Skips organizations that were purged, so that the counts of the others are not lost.
  const add = database.prepare(
    `INSERT INTO usage_day (organization_id, day, credential_id, operation, outcome, requests)
     SELECT id, @day, @credentialId, @operation, @outcome, @requests FROM organization WHERE id = @organizationId
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
  );
  const keepLatest = database.prepare(
    `INSERT INTO credential_use (organization_id, credential_id, last_used_at)
     SELECT id, @credentialId, @lastUsedAt FROM organization WHERE id = @organizationId
     ON CONFLICT DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  const list = database.prepare<[object], UsageCount>(
    `SELECT day, credential_id AS credentialId, operation, outcome, requests FROM usage_day
     WHERE organization_id = @organizationId AND day BETWEEN @firstDay AND @lastDay
     ORDER BY day, credential_id, operation, outcome`,
  );
  const addPrompt = database
    .prepare<[object], number>(
      `INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts)
       VALUES (@organizationId, @period, @user, @startedAt, 1)
       ON CONFLICT DO UPDATE SET started_at = max(started_at, excluded.started_at),
         prompts = CASE WHEN started_at < excluded.started_at THEN 1 ELSE prompts + 1 END
       RETURNING prompts`,
    )
    .pluck();

  return {
    addUsage: (reports) =>
      commits.unsynced(() => {
        for (const report of reports) {
          add.run(report);
          keepLatest.run(report);
        }
      }),

    listUsage: async (organizationId, firstDay, lastDay) => list.all({ organizationId, firstDay, lastDay }),

    countPrompt: (organizationId, userId, { period, startedAt, personMax, organizationMax }) =>
      commits.unsynced(() => {
        const count = (user: string) => addPrompt.get({ organizationId, period, user, startedAt })!;
        if (count(userId) > personMax) return 'person-limit';
        return count('') > organizationMax ? 'organization-limit' : 'counted';
      }),
  };
}
