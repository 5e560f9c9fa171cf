import type { OrganizationId } from '../../domain/id.ts';
import { keyIsLive } from '../sql/api-keys.ts';
import { empty, type Sql, sql, statement, type Values } from '../sql/sql.ts';
import type { Admission, Admissions, UsageCount, Usages } from '../store.ts';
import { askedLocking, type Database } from './database.ts';

type AdmissionRow = Omit<Admission, 'use'> & {
  apiEnabled: boolean;
  dailyQuota: number;
  /** The number of this request among those of its organization and day, from 1; null if that day has no row yet. */
  number: number | null;
};

const columns = {
  day: 'bigint',
  keyHash: 'text',
  applicationId: 'text',
  organizationId: 'text',
  epoch: 'bigint',
  /** The highest number of a request of that organization and day that this node knows of. */
  known: 'bigint',
} as const;

/**
 * Checks credentials and takes from quotas in one statement. The row of a day is locked before it is read, so that it is
 * read as the latest commit left it; rows are locked in the order of their keys, so that two nodes cannot deadlock. An
 * invalid credential, or one of a disabled organization, takes nothing.
 *
 * Counts are committed without a sync, so a database server that dies loses the last ones. The nodes outlive it: a count
 * goes on from the highest number that its node knows of.
 */
const admit = statement('admit')`WITH asked AS (
    SELECT * FROM ${askedLocking(columns)}
  ), holder AS (
    SELECT place, day, known, api_key.organization_id, api_key.user_id, api_key.id AS credential_id
    FROM asked JOIN api_key ON hash = key_hash AND ${keyIsLive}
    UNION ALL
    SELECT place, day, known, application.organization_id, NULL, application.id
    FROM asked JOIN application ON application.id = asked.application_id
      AND application.organization_id = asked.organization_id AND application.epoch = asked.epoch
      AND deleted_at IS NULL
  ), request AS (
    SELECT holder.*, api_enabled, daily_quota FROM holder JOIN organization ON organization.id = organization_id
  ), due AS (
    SELECT organization_id, day, daily_quota, count(*) AS requests, max(known) AS known FROM request
    WHERE api_enabled GROUP BY organization_id, day, daily_quota
  ), before AS (
    SELECT due.*, greatest(used, known) AS used FROM due JOIN quota_use USING (organization_id, day)
    ORDER BY organization_id, day FOR UPDATE OF quota_use
  ), taken AS (
    UPDATE quota_use SET used = greatest(before.used, least(before.used + requests, daily_quota)) FROM before
    WHERE quota_use.organization_id = before.organization_id AND quota_use.day = before.day
    RETURNING before.organization_id, before.day, before.used AS used_before
  )
  SELECT place, organization_id AS "organizationId", user_id AS "userId", credential_id AS "credentialId",
    api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
    used_before + row_number() OVER (PARTITION BY organization_id, day ORDER BY place) AS number,
    (SELECT set_config('synchronous_commit', 'off', true))
  FROM request LEFT JOIN taken USING (organization_id, day)`;
const dayColumns = { organizationId: 'text', day: 'bigint' } as const;
const startDay = statement('begin-day')`INSERT INTO quota_use (organization_id, day, used)
  SELECT id, day, 0 FROM ${askedLocking(dayColumns)} JOIN organization ON organization.id = organization_id
  ORDER BY id, day ON CONFLICT DO NOTHING`;

/** How many organizations of keys, which never change, and how many counts of organizations a node remembers. */
const rememberedMax = 10_000;

export function postgresAdmissions(database: Database): Admissions {
  const owners = new Map<unknown, OrganizationId>();
  const counts = new Map<unknown, { readonly day: number; readonly number: number }>();
  const organizationOf = ({ keyHash, organizationId }: Values) =>
    String(organizationId ?? owners.get(keyHash) ?? keyHash);
  const batchAdmissions = database.batched<AdmissionRow>(admit, columns, { batchesMax: 2, organizationOf });
  const batchDays = database.batched(startDay, dayColumns, { batchesMax: 1, organizationOf });

  function knownCount(organizationId: unknown, day: number): number {
    const count = counts.get(organizationId);
    return count?.day === day ? count.number : 0;
  }

  async function take(credential: Values & { day: number }): Promise<Admission | undefined> {
    const { keyHash, day } = credential;
    const known = knownCount(credential.organizationId ?? owners.get(keyHash), day);
    const [row] = await batchAdmissions({ ...credential, known });
    if (row === undefined) return undefined;
    const { organizationId, apiEnabled, dailyQuota, number } = row;
    if (keyHash !== null) remember(owners, keyHash, organizationId);
    if (number === null && apiEnabled) {
      // The organization's first request of the day.
      await batchDays({ organizationId, day });
      return take(credential);
    }
    if (number !== null && number <= dailyQuota)
      remember(counts, organizationId, { day, number: Math.max(number, knownCount(organizationId, day)) });
    return toAdmission(row);
  }

  const none = { keyHash: null, applicationId: null, organizationId: null, epoch: null };
  return {
    admitKey: (keyHash, day) => take({ ...none, keyHash, day }),
    admitApplication: (organizationId, applicationId, epoch, day) =>
      take({ ...none, applicationId, organizationId, epoch, day }),
  };
}

function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (map.size >= rememberedMax && !map.has(key)) map.delete(map.keys().next().value as Key);
  map.set(key, value);
}

function toAdmission(row: AdmissionRow): Admission {
  const { organizationId, userId, credentialId, apiEnabled, dailyQuota, number } = row;
  if (!apiEnabled || number === null) return { organizationId, userId, credentialId, use: undefined };
  const left = dailyQuota - number;
  const use = { granted: left >= 0, limit: dailyQuota, remaining: Math.max(0, left) };
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
