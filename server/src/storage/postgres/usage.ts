import type { UsageCount, Usages } from '../store.ts';
import type { Database } from './database.ts';

interface UsageRow {
  day: number;
  credential_id: string;
  operation: string;
  outcome: string;
  requests: number;
}

// Rows in the order of their keys: two nodes that add the same ones wait for each other, never in a circle. Of an
// organization that is gone nothing is kept, and what is counted of others is not lost with it.
const add = {
  name: 'add-usage',
  text: `WITH report AS (
      SELECT part.* FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
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
    SELECT set_config('synchronous_commit', 'off', true)`,
};
const list = {
  name: 'list-usage',
  text: `SELECT day, credential_id, operation, outcome, requests FROM usage_day
    WHERE organization_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, credential_id, operation, outcome`,
};
const quota = {
  name: 'read-quota',
  text: `SELECT coalesce(used, 0) AS used, daily_quota AS limit FROM organization
    LEFT JOIN quota_use ON organization_id = id AND day = $2 WHERE id = $1`,
};
const addPrompt = (
  rows: string,
) => `INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts)
    SELECT $1, $2, ${rows}
    ON CONFLICT (organization_id, period, user_id) DO UPDATE SET
      started_at = greatest(prompt_use.started_at, excluded.started_at),
      prompts = CASE WHEN prompt_use.started_at < excluded.started_at THEN 1 ELSE prompt_use.prompts + 1 END
    RETURNING prompts`;
const countPrompt = {
  name: 'count-prompt',
  text: `WITH person AS (${addPrompt('$3, $4, 1')}),
    organization AS (${addPrompt("'', $4, 1 FROM person WHERE person.prompts <= $5")})
    SELECT person.prompts AS person, organization.prompts AS organization
    FROM person LEFT JOIN organization ON true`,
};

export function postgresUsages({ run }: Database): Usages {
  return {
    async addUsage(reports) {
      if (reports.length === 0) return;
      await run(add, [
        reports.map(({ organizationId }) => organizationId),
        reports.map(({ day }) => day),
        reports.map(({ credentialId }) => credentialId),
        reports.map(({ operation }) => operation),
        reports.map(({ outcome }) => outcome),
        reports.map(({ requests }) => requests),
        reports.map(({ lastUsedAt }) => lastUsedAt),
      ]);
    },

    listUsage: async (organizationId, firstDay, lastDay) =>
      (await run<UsageRow>(list, [organizationId, firstDay, lastDay])).map(toUsageCount),

    async readQuota(organizationId, day) {
      const [row] = await run<{ used: number; limit: number }>(quota, [organizationId, day]);
      return row;
    },

    async countPrompt(organizationId, userId, { period, startedAt, personMax, organizationMax }) {
      const values = [organizationId, period, userId, startedAt, personMax];
      const [count] = await run<{ person: number; organization: number | null }>(countPrompt, values);
      if (count!.organization === null) return 'person-limit';
      return count!.organization > organizationMax ? 'organization-limit' : 'counted';
    },
  };
}

function toUsageCount({ credential_id: credentialId, ...row }: UsageRow): UsageCount {
  return { ...row, credentialId };
}
