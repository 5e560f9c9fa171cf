import type { UsageCount, Usages } from '../store.ts';
import { jsonRows, statement, type Values } from './sql.ts';
import { row, rows, run, type Transactions, type Work } from './work.ts';

// Counts of an organization that was purged are dropped, without losing those of the others. Rows are written in the order
// of their keys, so that two nodes that add to the same rows cannot deadlock.
const add = statement('add-usage')`
  INSERT INTO usage_day (organization_id, day, credential_id, operation, outcome, requests)
  SELECT organization.id, CAST(value ->> 'day' AS bigint), value ->> 'credentialId', value ->> 'operation',
    value ->> 'outcome', sum(CAST(value ->> 'requests' AS bigint))
  FROM json_each(:reports) AS entry JOIN organization ON organization.id = (value ->> 'organizationId')
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (organization_id, day, credential_id, operation, outcome)
  DO UPDATE SET requests = usage_day.requests + excluded.requests`;
const keepLatest = statement('keep-latest-use')`
  INSERT INTO credential_use (organization_id, credential_id, last_used_at)
  SELECT organization.id, value ->> 'credentialId', max(CAST(value ->> 'lastUsedAt' AS bigint))
  FROM json_each(:reports) AS entry JOIN organization ON organization.id = (value ->> 'organizationId')
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (organization_id, credential_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE credential_use.last_used_at < excluded.last_used_at`;
const list = statement('list-usage')`
  SELECT day, credential_id AS "credentialId", operation, outcome, requests FROM usage_day
  WHERE organization_id = :organizationId AND day BETWEEN :firstDay AND :lastDay
  ORDER BY day, credential_id, operation, outcome`;
const readQuota = statement('read-quota')`
  SELECT coalesce(used, 0) AS used, daily_quota AS "limit" FROM organization
  LEFT JOIN quota_use ON organization_id = id AND day = :day WHERE id = :organizationId`;
const addPrompt = statement('add-prompt-use')`
  INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts)
  VALUES (:organizationId, :period, :userId, :startedAt, 1)
  ON CONFLICT (organization_id, period, user_id) DO UPDATE SET
    started_at = CASE WHEN prompt_use.started_at < excluded.started_at THEN excluded.started_at
      ELSE prompt_use.started_at END,
    prompts = CASE WHEN prompt_use.started_at < excluded.started_at THEN 1 ELSE prompt_use.prompts + 1 END
  RETURNING prompts`;
/** People who get mails are counted by address, and there may be others every day. */
const removeMailUses = statement('remove-mail-uses')`DELETE FROM prompt_use
  WHERE organization_id = :organizationId AND period = 'mail' AND user_id <> '' AND started_at < :startedAt`;
const wholeOrganization = '';

/** Returns the uses in this period, including this one. */
export function* addUse(values: Values): Work<number> {
  return (yield* row<{ prompts: number }>(addPrompt, values))!.prompts;
}

export function usages({ read, writeUnsynced }: Transactions): Usages {
  return {
    async addUsage(reports) {
      if (reports.length === 0) return;
      const values = { reports: jsonRows(reports) };
      await writeUnsynced(function* () {
        yield* run(add, values);
        yield* run(keepLatest, values);
      });
    },

    listUsage: (organizationId, firstDay, lastDay) =>
      read(() => rows<UsageCount>(list, { organizationId, firstDay, lastDay })),

    readQuota: (organizationId, day) => read(() => row(readQuota, { organizationId, day })),

    countPrompt: (organizationId, userId, { period, startedAt, personMax, organizationMax }) =>
      writeUnsynced(function* () {
        const count = (user: string) => addUse({ organizationId, period, userId: user, startedAt });
        if (period === 'mail') yield* run(removeMailUses, { organizationId, startedAt });
        if ((yield* count(userId)) > personMax) return 'person-limit';
        return (yield* count(wholeOrganization)) > organizationMax ? 'organization-limit' : 'counted';
      }),
  };
}
