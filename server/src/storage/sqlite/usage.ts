import type { UsageCount, Usages } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

export function sqliteUsages(database: Database, commits: CommitQueue): Omit<Usages, 'readQuota'> {
  // Skips organizations that were purged, so that the counts of the others are not lost.
  const add = database.prepare<[number, string, string, string, number, string]>(
    `INSERT INTO usage_day (organization_id, day, credential_id, operation, outcome, requests)
     SELECT id, ?, ?, ?, ?, ? FROM organization WHERE id = ?
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
  );
  const keepLatest = database.prepare<[string, number, string]>(
    `INSERT INTO credential_use (organization_id, credential_id, last_used_at)
     SELECT id, ?, ? FROM organization WHERE id = ?
     ON CONFLICT DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  const list = database.prepare<[string, number, number], UsageCount>(
    `SELECT day, credential_id AS credentialId, operation, outcome, requests FROM usage_day
     WHERE organization_id = ? AND day BETWEEN ? AND ? ORDER BY day, credential_id, operation, outcome`,
  );

  const countPrompt = database
    .prepare<[string, string, string, number], number>(
      `INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts) VALUES (?, ?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET started_at = max(started_at, excluded.started_at),
         prompts = CASE WHEN started_at < excluded.started_at THEN 1 ELSE prompts + 1 END
       RETURNING prompts`,
    )
    .pluck();

  return {
    addUsage: (reports) =>
      commits.unsynced(() => {
        for (const report of reports) {
          const { organizationId, day, credentialId, operation, outcome, requests, lastUsedAt } = report;
          add.run(day, credentialId, operation, outcome, requests, organizationId);
          keepLatest.run(credentialId, lastUsedAt, organizationId);
        }
      }),

    listUsage: async (organizationId, firstDay, lastDay) => list.all(organizationId, firstDay, lastDay),

    countPrompt: (organizationId, userId, { period, startedAt, personMax, organizationMax }) =>
      commits.unsynced(() => {
        const count = (user: string) => countPrompt.get(organizationId, period, user, startedAt)!;
        if (count(userId) > personMax) return 'person-limit';
        return count('') > organizationMax ? 'organization-limit' : 'counted';
      }),
  };
}
