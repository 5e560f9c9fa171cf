import { empty, type Sql, sql, statement } from '../sql/sql.ts';
import type { UsageCount, Usages } from '../store.ts';
import type { Database } from './database.ts';

// Rows are written in the order of their keys, so that two nodes that add to the same rows cannot deadlock. Counts of an
// organization that no longer exists are dropped without losing those of the others.
const add = statement('add-usage')`WITH report AS (
    SELECT part.* FROM unnest(:organizationIds::text[], :days::bigint[], :credentialIds::text[], :operations::text[],
      :outcomes::text[], :requests::bigint[], :lastUsedAts::bigint[])
      AS part (organization_id, day, credential_id, operation, outcome, requests, last_used_at)
    JOIN organization ON organization.id = part.organization_id
  ), counted AS (
    INSERT INTO usage_day (organization_id, day, credential_id, operation, outcome, requests)
    SELECT organization_id, day, credential_id, operation, outcome, sum(requests)::bigint FROM report
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (organization_id, day, credential_id, operation, outcome)
    DO UPDATE SET requests = usage_day.requests + excluded.requests
  ), used AS (
    INSERT INTO credential_use (organization_id, credential_id, last_used_at)
    SELECT organization_id, credential_id, max(last_used_at) FROM report
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (organization_id, credential_id)
    DO UPDATE SET last_used_at = greatest(credential_use.last_used_at, excluded.last_used_at)
  )
  SELECT set_config('synchronous_commit', 'off', true)`;
const list = statement('list-usage')`
  SELECT day, credential_id AS "credentialId", operation, outcome, requests FROM usage_day
  WHERE organization_id = :organizationId AND day BETWEEN :firstDay AND :lastDay
  ORDER BY day, credential_id, operation, outcome`;
const readQuota = statement(
  'read-quota',
)`SELECT coalesce(used, 0) AS used, daily_quota AS limit FROM organization
  LEFT JOIN quota_use ON organization_id = id AND day = :day WHERE id = :organizationId`;
const addPrompt = (userId: Sql, source: Sql) => sql`
    INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts)
    SELECT :organizationId, :period, ${userId}, :startedAt, 1 ${source}
    ON CONFLICT (organization_id, period, user_id) DO UPDATE SET
      started_at = greatest(prompt_use.started_at, excluded.started_at),
      prompts = CASE WHEN prompt_use.started_at < excluded.started_at THEN 1 ELSE prompt_use.prompts + 1 END
    RETURNING prompts`;
const countPrompt = statement('count-prompt')`WITH person AS (${addPrompt(sql`:userId`, empty)}
  ), organization AS (${addPrompt(sql`''`, sql`FROM person WHERE person.prompts <= :personMax`)})
  SELECT person.prompts AS person, organization.prompts AS organization
  FROM person LEFT JOIN organization ON true`;

export function postgresUsages({ run }: Database): Usages {
  return {
    async addUsage(reports) {
      if (reports.length === 0) return;
      await run(add, {
        organizationIds: reports.map(({ organizationId }) => organizationId),
        days: reports.map(({ day }) => day),
        credentialIds: reports.map(({ credentialId }) => credentialId),
        operations: reports.map(({ operation }) => operation),
        outcomes: reports.map(({ outcome }) => outcome),
        requests: reports.map(({ requests }) => requests),
        lastUsedAts: reports.map(({ lastUsedAt }) => lastUsedAt),
      });
    },

    listUsage: (organizationId, firstDay, lastDay) =>
      run<UsageCount>(list, { organizationId, firstDay, lastDay }),

    readQuota: async (organizationId, day) =>
      (await run<{ used: number; limit: number }>(readQuota, { organizationId, day }))[0],

    async countPrompt(organizationId, userId, { period, startedAt, personMax, organizationMax }) {
      const values = { organizationId, userId, period, startedAt, personMax };
      const [count] = await run<{ person: number; organization: number | null }>(countPrompt, values);
      if (count!.organization === null) return 'person-limit';
      return count!.organization > organizationMax ? 'organization-limit' : 'counted';
    },
  };
}
