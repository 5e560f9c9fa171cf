import { keyIsLive } from '../sql/api-keys.ts';
import { empty, type Sql, type Statement, sql, statement, type Values } from '../sql/sql.ts';
import type { Admission, Admissions, UsageCount, Usages } from '../store.ts';
import type { Database } from './database.ts';

type AdmissionRow = Omit<Admission, 'use'> & {
  apiEnabled: boolean;
  dailyQuota: number;
  usedBefore: number | null;
};

/** Requests with the same credential that arrived in the same turn of the event loop: one statement admits them all. */
interface Batch {
  count: number;
  readonly row: Promise<AdmissionRow | undefined>;
}

/**
 * Checks the credential and takes from the quota in one statement. The row of the day is locked before it is read, so
 * that it is read as the latest commit left it. An invalid credential, or one of a disabled organization, takes nothing.
 */
const admit = (holder: Sql) => sql`WITH holder AS (${holder}
  ), before AS (
    SELECT used FROM quota_use JOIN holder USING (organization_id) WHERE day = :day AND api_enabled
    FOR UPDATE OF quota_use
  ), taken AS (
    UPDATE quota_use SET used = greatest(before.used, least(before.used + :count, daily_quota)) FROM before, holder
    WHERE quota_use.organization_id = holder.organization_id AND day = :day RETURNING before.used AS used_before
  )
  SELECT organization_id AS "organizationId", user_id AS "userId", credential_id AS "credentialId",
    api_enabled AS "apiEnabled", daily_quota AS "dailyQuota", used_before AS "usedBefore",
    set_config('synchronous_commit', 'off', true)
  FROM holder LEFT JOIN taken ON true`;

const admitKey = statement('admit-key')`${admit(sql`
    SELECT organization_id, user_id, api_key.id AS credential_id, api_enabled, daily_quota
    FROM api_key JOIN organization ON organization.id = organization_id WHERE hash = :hash AND ${keyIsLive}`)}`;
const admitApplication = statement('admit-application')`${admit(sql`
    SELECT organization_id, NULL::text AS user_id, application.id AS credential_id, api_enabled, daily_quota
    FROM application JOIN organization ON organization.id = organization_id
    WHERE application.id = :applicationId AND organization_id = :organizationId AND epoch = :epoch
      AND deleted_at IS NULL`)}`;
const startDay = statement('begin-day')`INSERT INTO quota_use (organization_id, day, used)
  SELECT id, :day, 0 FROM organization WHERE id = :organizationId ON CONFLICT DO NOTHING`;

export function postgresAdmissions({ run }: Database): Admissions {
  const batches = new Map<string, Batch>();

  async function take(admission: Statement, values: Values & { day: number }) {
    const [row] = await run<AdmissionRow>(admission, values);
    if (row === undefined || !row.apiEnabled || row.usedBefore !== null) return row;
    // The organization's first request of the day.
    await run(startDay, { organizationId: row.organizationId, day: values.day });
    return (await run<AdmissionRow>(admission, values))[0];
  }

  async function admitTogether(
    admission: Statement,
    values: Values & { day: number },
  ): Promise<Admission | undefined> {
    const credential = Object.values(values).join(' ');
    let batch = batches.get(credential);
    if (batch === undefined) {
      const fresh: Batch = {
        count: 0,
        row: new Promise((resolve, reject) => {
          setImmediate(() => {
            batches.delete(credential);
            take(admission, { ...values, count: fresh.count }).then(resolve, reject);
          });
        }),
      };
      batches.set(credential, fresh);
      batch = fresh;
    }
    batch.count += 1;
    const place = batch.count;
    return toAdmission(await batch.row, place);
  }

  return {
    admitKey: (hash, day) => admitTogether(admitKey, { hash, day }),
    admitApplication: (organizationId, applicationId, epoch, day) =>
      admitTogether(admitApplication, { applicationId, organizationId, epoch, day }),
  };
}

/** `place` is the position in the batch, from 1. */
function toAdmission(row: AdmissionRow | undefined, place: number): Admission | undefined {
  if (row === undefined) return undefined;
  const { organizationId, userId, credentialId, apiEnabled, dailyQuota, usedBefore } = row;
  if (!apiEnabled || usedBefore === null) return { organizationId, userId, credentialId, use: undefined };
  const left = dailyQuota - usedBefore;
  const use = { granted: place <= left, limit: dailyQuota, remaining: Math.max(0, left - place) };
  return { organizationId, userId, credentialId, use };
}

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
