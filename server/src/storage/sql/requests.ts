import type { OrganizationId } from '../../domain/id.ts';
import type { LoggedRequest, Requests, TrafficCount, TrafficReport } from '../store.ts';
import { identifier, jsonRows, sql, statement, type Values } from './sql.ts';
import { count, row, rows, run, type Transactions, type Work } from './work.ts';

/** A filter searches at most this many entries for one page. */
const searchMax = 5_000;
/** One removal removes at most this many entries. */
const removalMax = 500;

// Rows of an organization that was purged are dropped, without losing those of the others.
const insert = sql`INSERT INTO request
  (organization_id, at, id, method, operation, status, latency_us, credential_id, code, message)`;
const addOne = statement(
  'add-request',
)`${insert} VALUES (:organizationId, :at, :traceId, :method, :operation, :status,
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
  SELECT at, id AS "traceId" FROM request WHERE ${range} ${newestFirst} LIMIT 1 OFFSET ${searchMax - 1}`;
// `at >= :endAt` bounds the scan of the index; SQLite uses only one lower bound, and not the one of a pair.
const search = statement('search-requests')`
  SELECT ${columns} FROM request WHERE ${older} AND at >= :endAt AND (at, id) >= (:endAt, :endId)
    AND (:operation = '' OR operation = :operation) AND (:credentialId = '' OR credential_id = :credentialId)
    AND (:statusClass = 0 OR status / 100 = :statusClass) AND (:code = '' OR code = :code)
  ${newestFirst} LIMIT :limit`;
const find = statement('find-request')`
  SELECT ${columns} FROM request WHERE organization_id = :organizationId AND id = :traceId`;
const findOld = statement('find-old-request')`
  SELECT at, id AS "traceId" FROM request WHERE organization_id = :organizationId ${newestFirst} LIMIT 1 OFFSET :keep`;
const upTo = sql`organization_id = :organizationId AND (at, id) <= (:at, :traceId)`;
const findRemovalEnd = statement('find-end-of-request-removal')`
  SELECT at, id AS "traceId" FROM request WHERE ${upTo} ORDER BY at, id LIMIT 1 OFFSET ${removalMax - 1}`;
const remove = statement('remove-requests')`DELETE FROM request WHERE ${upTo} RETURNING 1`;

interface Position {
  at: number;
  traceId: string;
}

/** Searches a bounded part of the log, which ends at `end` if there is more. */
function* searchFor(values: Values): Work<{ found: LoggedRequest[]; end: Position | undefined }> {
  const end = yield* row<Position>(findSearchEnd, values);
  const bounds = { endAt: end?.at ?? values.since, endId: end?.traceId ?? '' };
  return { found: yield* rows<LoggedRequest>(search, { ...values, ...bounds }), end };
}

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
      const page = { organizationId, beforeAt: before.at, beforeId: before.traceId, since, limit };
      const isFiltered = operation !== '' || credentialId !== '' || statusClass !== 0 || code !== '';
      const { found, end } = isFiltered
        ? await read(() => searchFor({ ...page, operation, credentialId, statusClass, code }))
        : { found: await read(() => rows<LoggedRequest>(list, page)), end: undefined };
      const last = found.length === limit ? found.at(-1) : end;
      return { requests: found, searched: last ? { at: last.at, traceId: last.traceId } : null };
    },

    findRequest: (organizationId, traceId) =>
      read(() => row<LoggedRequest>(find, { organizationId, traceId })),

    findOldRequest: (organizationId, keep) => read(() => row<Position>(findOld, { organizationId, keep })),

    removeRequests: (organizationId, position) =>
      write(function* () {
        const end = yield* row<Position>(findRemovalEnd, { organizationId, ...position });
        return yield* count(remove, { organizationId, ...(end ?? position) });
      }),

    listTraffic: (organizationId, unit, first, last) =>
      read(() => rows<TrafficCount>(listTrafficOf[unit], { organizationId, first, last })),
  };
}
