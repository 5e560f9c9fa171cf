import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { LoggedRequest, Requests, TrafficCount, TrafficReport, UsageCount, Usages } from '../store.ts';
import { searchLog, searchMax } from './audit.ts';
import { identifier, jsonRows, sql, statement, type Values } from './sql.ts';
import { count, row, rows, run, type Transactions, type Work } from './work.ts';

/** One removal removes at most this many entries. */
const removalMax = 500;

// Rows of an organization that was purged are dropped, without losing those of the others.
const insert = sql`INSERT INTO request
  (organization_id, at, id, method, operation, status, latency_us, credential_id, code, message)`;
const addOne = statement('add-request')`
  ${insert} VALUES (:organizationId, :at, :traceId, :method, :operation, :status,
  :latencyUs, :credentialId, :code, :message) ON CONFLICT DO NOTHING`;
const findOrganization = statement('find-organization-of-requests')`
  SELECT 1 FROM organization WHERE id = :organizationId`;
const addMany = statement('add-requests')`${insert}
  SELECT organization.id, CAST(value ->> 'at' AS bigint), value ->> 'traceId', value ->> 'method', value ->> 'operation',
    CAST(value ->> 'status' AS bigint), CAST(value ->> 'latencyUs' AS bigint), value ->> 'credentialId',
    value ->> 'code', value ->> 'message'
  FROM json_each(:requests) AS entry JOIN organization ON organization.id = (value ->> 'organizationId')
  WHERE true ON CONFLICT DO NOTHING`;

// In the order of the keys, so that two nodes that add to the same rows cannot deadlock.
const addTraffic = (unit: 'hour' | 'day') => {
  const table = identifier(`traffic_${unit}`);
  return statement(`add-traffic-${unit}`)`
    INSERT INTO ${table} (organization_id, ${identifier(unit)}, operation, outcome, bucket, requests)
    SELECT organization.id, CAST(value ->> 'period' AS bigint), value ->> 'operation', value ->> 'outcome',
      CAST(value ->> 'bucket' AS bigint), sum(CAST(value ->> 'requests' AS bigint))
    FROM json_each(:traffic) AS entry JOIN organization ON organization.id = (value ->> 'organizationId')
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (organization_id, ${identifier(unit)}, operation, outcome, bucket)
    DO UPDATE SET requests = ${table}.requests + excluded.requests`;
};
const addTrafficOf = { hour: addTraffic('hour'), day: addTraffic('day') };

const listTraffic = (unit: 'hour' | 'day') => statement(`list-traffic-${unit}`)`
  SELECT ${identifier(unit)} AS period, operation, outcome, bucket, requests FROM ${identifier(`traffic_${unit}`)}
  WHERE organization_id = :organizationId AND ${identifier(unit)} BETWEEN :first AND :last
  ORDER BY ${identifier(unit)}, operation, outcome, bucket`;
const listTrafficOf = { hour: listTraffic('hour'), day: listTraffic('day') };

const columns = sql`organization_id AS "organizationId", at, id AS "traceId", method, operation, status,
  latency_us AS "latencyUs", credential_id AS "credentialId", code, message`;
const older = sql`organization_id = :organizationId AND (at, id) < (:beforeAt, :beforeId)`;
const range = sql`${older} AND at >= :since`;
const newestFirst = sql`ORDER BY at DESC, id DESC`;
const list = statement('list-requests')`
  SELECT ${columns} FROM request WHERE ${range} ${newestFirst} LIMIT :limit`;
const findSearchEnd = statement('find-end-of-request-search')`
  SELECT at, id FROM request WHERE ${range} ${newestFirst} LIMIT 1 OFFSET ${searchMax - 1}`;
// `at >= :endAt` bounds the scan of the index; SQLite uses only one lower bound, and not the one of a pair.
const search = statement('search-requests')`
  SELECT ${columns} FROM request WHERE ${older} AND at >= :endAt AND (at, id) >= (:endAt, :endId)
    AND (:operation = '' OR operation = :operation) AND (:credentialId = '' OR credential_id = :credentialId)
    AND (:statusClass = 0 OR status / 100 = :statusClass) AND (:code = '' OR code = :code)
  ${newestFirst} LIMIT :limit`;
const find = statement('find-request')`
  SELECT ${columns} FROM request WHERE organization_id = :organizationId AND id = :traceId`;
const findOld = statement('find-old-request')`
  SELECT at, id FROM request WHERE organization_id = :organizationId ${newestFirst} LIMIT 1 OFFSET :keep`;
const upTo = sql`organization_id = :organizationId AND (at, id) <= (:at, :id)`;
const findRemovalEnd = statement('find-end-of-request-removal')`
  SELECT at, id FROM request WHERE ${upTo} ORDER BY at, id LIMIT 1 OFFSET ${removalMax - 1}`;
const remove = statement('remove-requests')`DELETE FROM request WHERE ${upTo} RETURNING 1`;

/** SQLSTATE 22 (data) and 23 (constraints), and the same of SQLite: the values fail again however often they are sent. */
function rejectsValues(error: unknown): boolean {
  return /^(2[23]|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG))/.test((error as { code?: string }).code ?? '');
}

function* addEach(entries: readonly LoggedRequest[]): Work<void> {
  const known = new Map<OrganizationId, boolean>();
  for (const entry of entries) {
    const { organizationId } = entry;
    if (!known.has(organizationId))
      known.set(organizationId, (yield* count(findOrganization, { organizationId })) > 0);
    if (known.get(organizationId)) yield { statement: addOne, values: entry as unknown as Values };
  }
}

export function requests({ runsLocally, read, write, writeUnsynced }: Transactions): Requests {
  const addAll = (entries: readonly LoggedRequest[], traffic: readonly TrafficReport[]) =>
    writeUnsynced(function* () {
      if (runsLocally) yield* addEach(entries);
      else if (entries.length > 0) yield* run(addMany, { requests: jsonRows(entries) });
      for (const unit of ['hour', 'day'] as const) {
        const counts = traffic.filter((count) => count.unit === unit);
        if (counts.length > 0) yield* run(addTrafficOf[unit], { traffic: jsonRows(counts) });
      }
    });

  return {
    async addRequests(entries, traffic) {
      try {
        await addAll(entries, traffic);
        return 0;
      } catch (error) {
        if (entries.length === 0 || !rejectsValues(error)) throw error;
      }
      let rejected = 0;
      for (const entry of entries) {
        await addAll([entry], []).catch((error) => {
          if (!rejectsValues(error)) throw error;
          rejected += 1;
        });
      }
      // Last, because a repeated call would count it again.
      await addAll([], traffic);
      return rejected;
    },

    async listRequests(organizationId, { before, since, limit, ...filter }) {
      const { operation = '', credentialId = '', statusClass = 0, code = '' } = filter;
      const page = { organizationId, beforeAt: before.at, beforeId: before.id, since, limit };
      const values = { ...page, operation, credentialId, statusClass, code };
      const isFiltered = operation !== '' || credentialId !== '' || statusClass !== 0 || code !== '';
      const { found, end } = isFiltered
        ? await read(() => searchLog<LoggedRequest>(findSearchEnd, search, values))
        : { found: await read(() => rows<LoggedRequest>(list, page)), end: undefined };
      const last = found.length === limit ? found.at(-1) : undefined;
      return { requests: found, searched: last ? { at: last.at, id: last.traceId } : (end ?? null) };
    },

    findRequest: (organizationId, traceId) =>
      read(() => row<LoggedRequest>(find, { organizationId, traceId })),

    findOldRequest: (organizationId, keep) => read(() => row<LogPosition>(findOld, { organizationId, keep })),

    removeRequests: (organizationId, position) =>
      write(function* () {
        const end = yield* row<LogPosition>(findRemovalEnd, { organizationId, ...position });
        return yield* count(remove, { organizationId, ...(end ?? position) });
      }),

    listTraffic: (organizationId, unit, first, last) =>
      read(() => rows<TrafficCount>(listTrafficOf[unit], { organizationId, first, last })),
  };
}

// Counts of an organization that was purged are dropped, without losing those of the others. Rows are written in the order
// of their keys, so that two nodes that add to the same rows cannot deadlock.
const addCounts = statement('add-usage')`
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
const listUsage = statement('list-usage')`
  SELECT day, credential_id AS "credentialId", operation, outcome, requests FROM usage_day
  WHERE organization_id = :organizationId AND day BETWEEN :firstDay AND :lastDay
  ORDER BY day, credential_id, operation, outcome`;
export const readQuota = statement('read-quota')`
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
        yield* run(addCounts, values);
        yield* run(keepLatest, values);
      });
    },

    listUsage: (organizationId, firstDay, lastDay) =>
      read(() => rows<UsageCount>(listUsage, { organizationId, firstDay, lastDay })),

    readQuota: (organizationId, day) => read(() => row(readQuota, { organizationId, day })),

    countPrompt: (organizationId, userId, { period, startedAt, personMax, organizationMax }) =>
      writeUnsynced(function* () {
        const countFor = (user: string) => addUse({ organizationId, period, userId: user, startedAt });
        if (period === 'mail') yield* run(removeMailUses, { organizationId, startedAt });
        if ((yield* countFor(userId)) > personMax) return 'person-limit';
        return (yield* countFor(wholeOrganization)) > organizationMax ? 'organization-limit' : 'counted';
      }),
  };
}
