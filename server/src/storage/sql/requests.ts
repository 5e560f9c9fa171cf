import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { dayMs } from '../../domain/time.ts';
import { traceIdStart, traceStart } from '../../domain/traffic.ts';
import type { LoggedRequest, PromptLimit, Requests, TrafficCount, UsageCount } from '../port/store.ts';
import { newest, searchMax } from './audit.ts';
import { authorized } from './authority.ts';
import {
  callColumns,
  callsWith,
  callValues,
  jsonRows,
  postgresStatement,
  type Sql,
  sql,
  sqliteStatement,
  statement,
} from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

/** A block has at most this many requests, so that a removal or a page does not take long. */
const blockMax = 100;
/** No block spans two minutes: retention removes a block when its newest request is too old. */
const blockMs = 60_000;
/** One commit removes at most this many blocks: about 1 ms of the event loop on SQLite. */
export const blocksPerRemoval = 20;
/** A page reads a few blocks at first, then twice as many each time, up to this many. */
const firstBlocks = 8;
const blocksAtOnceMax = 128;
/** A request that took longer is not found by its trace ID. */
const requestMsMax = 600_000;
/** A request during which the clock was set back further is not found, either. */
const clockStepMsMax = 1_000;

interface Block extends LogPosition {
  readonly organizationId: OrganizationId;
  readonly firstAt: number;
  readonly entries: number;
  /** A JSON array with the values of each request. */
  readonly requests: string;
}

/** The values of a request in a block, in this order. Names would take more room than the values. */
const toValues = (request: LoggedRequest) => {
  const { at, traceId, method, operation, status, latencyUs, credentialId, code, message } = request;
  return [at, traceId, method, operation, status, latencyUs, credentialId, code, message] as const;
};

function parse(organizationId: OrganizationId, { requests }: Pick<Block, 'requests'>): LoggedRequest[] {
  const entries = JSON.parse(requests) as ReturnType<typeof toValues>[];
  return entries.map((values) => {
    const [at, traceId, method, operation, status, latencyUs, credentialId, code, message] = values;
    return { organizationId, at, traceId, method, operation, status, latencyUs, credentialId, code, message };
  });
}

/**
 * A row for each request would take longer. The id of a block is its earliest trace ID, which contains a time of arrival:
 * a search by trace ID skips later blocks. Slow requests are kept apart, so that those of a block arrived together.
 */
function groupIntoBlocks(requests: readonly LoggedRequest[]): Block[] {
  const blocks = Map.groupBy(
    requests,
    ({ organizationId, at, latencyUs }, index) =>
      `${organizationId} ${Math.floor(at / blockMs)} ${Math.floor(index / blockMax)} ${latencyBucket(latencyUs)}`,
  );
  return [...blocks.values()].map((block) => {
    const { organizationId } = block[0]!;
    const id = block.map(({ traceId }) => traceId).reduce((a, b) => (a < b ? a : b));
    const times = block.map(({ at }) => at);
    const [firstAt, at] = [Math.min(...times), Math.max(...times)];
    const requests = JSON.stringify(block.map(toValues));
    return { organizationId, at, id, firstAt, entries: block.length, requests };
  });
}

/** 0 up to a second, 1 up to 4 seconds, 2 up to 16 seconds, and so on. */
function latencyBucket(latencyUs: number): number {
  return Math.max(0, Math.ceil(Math.log2(latencyUs / 1e6) / 2));
}

// Rows of an organization that was purged are dropped, without losing those of the others.
const insert = sql`INSERT INTO request_block (organization_id, at, id, first_at, entries, requests)`;
const addBlock = sqliteStatement('add-request-block')`${insert}
  SELECT id, :at, :id, :firstAt, :entries, :requests FROM organization WHERE id = :organizationId
  ON CONFLICT DO NOTHING`;
const blockColumns = callColumns({ text: 'organizationId id requests', bigint: 'at firstAt entries' });
/** Lists, because in JSON the long texts would be parsed again for each column. */
const addBlocks = postgresStatement('add-request-blocks')`${insert}
  SELECT organization.id, call.at, call.id, call.first_at, call.entries, call.requests
  FROM ${callsWith(blockColumns)} JOIN organization ON organization.id = call.organization_id
  ON CONFLICT DO NOTHING`;

// Counts of an organization that was purged are dropped, and so is the last use of a credential that was removed. Rows are
// written in the order of their keys, so that two nodes cannot deadlock.
const reported = sql`json_each(:reports) AS entry JOIN organization ON organization.id = (value ->> 'organizationId')`;
const hour = sql`CAST(value ->> 'hour' AS bigint)`;
const sumOfRequests = sql`sum(CAST(value ->> 'requests' AS bigint))`;
const addTraffic = statement('add-traffic')`
  INSERT INTO traffic (organization_id, unit, period, operation, outcome, bucket, requests)
  SELECT organization.id, unit, ${hour} / hours, value ->> 'operation', value ->> 'outcome',
    CAST(value ->> 'bucket' AS bigint), ${sumOfRequests}
  FROM ${reported} CROSS JOIN (SELECT 'hour' AS unit, 1 AS hours UNION ALL SELECT 'day', 24) AS span
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (organization_id, unit, period, operation, outcome, bucket)
  DO UPDATE SET requests = traffic.requests + excluded.requests`;
const addUsage = statement('add-usage')`
  INSERT INTO usage_day (organization_id, day, credential_id, operation, outcome, requests)
  SELECT organization.id, ${hour} / 24, value ->> 'credentialId', value ->> 'operation', value ->> 'outcome',
    ${sumOfRequests}
  FROM ${reported} WHERE value ->> 'credentialId' IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (organization_id, day, credential_id, operation, outcome)
  DO UPDATE SET requests = usage_day.requests + excluded.requests`;
// A time of more than a day ahead was written by a wrong clock. It would hide all uses until then.
const keepLatest = statement('keep-latest-use')`
  INSERT INTO credential_use (organization_id, credential_id, last_used_at)
  SELECT organization.id, value ->> 'credentialId', max(CAST(value ->> 'lastAt' AS bigint)) FROM ${reported}
  WHERE EXISTS (SELECT 1 FROM api_key
      WHERE api_key.organization_id = organization.id AND api_key.id = (value ->> 'credentialId'))
    OR EXISTS (SELECT 1 FROM application
      WHERE application.organization_id = organization.id AND application.id = (value ->> 'credentialId'))
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (organization_id, credential_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE credential_use.last_used_at < excluded.last_used_at
    OR credential_use.last_used_at > excluded.last_used_at + ${dayMs}`;
const listTraffic = statement('list-traffic')`SELECT period, operation, outcome, bucket, requests FROM traffic
  WHERE organization_id = :organizationId AND unit = :unit AND period BETWEEN :first AND :last
  ORDER BY period, operation, outcome, bucket`;

const newestFirst = sql`ORDER BY at DESC, id DESC`;
const list = statement('list-request-blocks')`
  SELECT at, id, requests FROM request_block WHERE organization_id = :organizationId
    AND (at, id) < (:endAt, :endId) AND at >= :since AND first_at <= :beforeAt
  ${newestFirst} LIMIT :limit`;
const find = statement('find-request-block')`
  SELECT requests FROM request_block WHERE organization_id = :organizationId
    AND at BETWEEN :first AND :last AND id < :idEnd AND strpos(requests, :traceId) > 0
  ORDER BY at, id LIMIT 1`;
const findOld = statement('find-old-request-block')`
  SELECT at, id FROM (
    SELECT at, id, entries, sum(entries) OVER (${newestFirst}) AS total FROM request_block
    WHERE organization_id = :organizationId) AS block
  WHERE total - entries >= :keep ${newestFirst} LIMIT 1`;
const upTo = sql`organization_id = :organizationId AND (at, id) <= (:at, :id)`;
const findRemovalEnd = statement('find-end-of-request-removal')`
  SELECT at, id FROM request_block WHERE ${upTo} ORDER BY at, id LIMIT 1 OFFSET ${blocksPerRemoval - 1}`;
const remove = statement('remove-request-blocks')`DELETE FROM request_block WHERE ${upTo} RETURNING 1`;

const compare = (a: LogPosition, b: LogPosition) => a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id));
const toPosition = ({ at, traceId: id }: LoggedRequest): LogPosition => ({ at, id });

/** SQLSTATE 22 (data), 23 (constraints) and 54 (sizes), and the same of SQLite: the database works, but not with these values. */
export function rejectsValues(error: unknown): boolean {
  return /^(2[23]|54|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG))/.test((error as { code?: string }).code ?? '');
}

/** Whether the write succeeded; false if the database rejects its values. */
async function unlessRejected(written: Promise<void>): Promise<boolean> {
  try {
    await written;
    return true;
  } catch (error) {
    if (rejectsValues(error)) return false;
    throw error;
  }
}

const latestUsage = (condition: Sql) => sql`
  SELECT day, credential_id AS "credentialId", operation, outcome, requests FROM (
    SELECT * FROM usage_day WHERE organization_id = :organizationId AND ${condition}
    ORDER BY day DESC, credential_id DESC, operation DESC, outcome DESC LIMIT :limit) AS latest
  ORDER BY day, credential_id, operation, outcome`;
const listUsage = statement('list-usage')`${latestUsage(sql`day BETWEEN :firstDay AND :lastDay`)}`;
// Each day by itself: SQLite would read the counts of all credentials in a range (88 ms instead of 15 for 540,000).
const listUsageOfOwner = statement('list-usage-of-owner')`${latestUsage(sql`
  day IN (WITH RECURSIVE each_day (number) AS (
    SELECT CAST(:firstDay AS bigint) UNION ALL SELECT number + 1 FROM each_day WHERE number < :lastDay)
    SELECT number FROM each_day WHERE number <= :lastDay)
  AND credential_id IN (SELECT id FROM api_key WHERE organization_id = :organizationId AND user_id = :userId)`)}`;
export const readQuota = statement('read-quota')`
  SELECT coalesce(used, 0) AS used, daily_quota AS "limit" FROM organization
  LEFT JOIN quota_use ON organization_id = id AND day = :day WHERE id = :organizationId`;
const periodMs: Readonly<Record<PromptLimit['period'], number>> = { minute: 60_000, day: dayMs, mail: dayMs };
/** A period that starts later than the next one was written by a wrong clock. Without this it would apply until then. */
const isCurrent = sql`prompt_use.started_at BETWEEN excluded.started_at AND excluded.started_at + CAST(:ms AS bigint)`;
const addPrompt = statement('add-prompt-use')`
  INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts)
  SELECT :organizationId, :period, :userId, at - at % CAST(:ms AS bigint), 1 FROM (SELECT :now AS at) AS moment
  WHERE true ON CONFLICT (organization_id, period, user_id) DO UPDATE SET
    started_at = CASE WHEN ${isCurrent} THEN prompt_use.started_at ELSE excluded.started_at END,
    prompts = CASE WHEN ${isCurrent} THEN prompt_use.prompts + 1 ELSE 1 END
  RETURNING prompts, greatest(1, started_at + CAST(:ms AS bigint) - :now) AS "resetMs"`;
/** People who get emails are counted by address, and there may be new ones every day. */
export const removeMailUses = statement('remove-mail-uses')`DELETE FROM prompt_use
  WHERE organization_id = :organizationId AND period = 'mail' AND user_id <> '' AND started_at <= :now - ${dayMs}`;
const wholeOrganization = '';

/** Returns the uses in this period, including this one, and when the next period starts. */
export function* addUse(
  use: Pick<PromptLimit, 'period'> & { readonly organizationId: OrganizationId; readonly userId: string },
): Work<{ readonly prompts: number; readonly resetMs: number }> {
  return (yield* row(addPrompt, { ...use, ms: periodMs[use.period] }))!;
}

export const requests = ({ runsLocally, read, write, writeUnsynced }: Transactions): Requests => ({
  addRequests(entries) {
    // Outside the transaction, which may run its work more than once.
    const blocks = groupIntoBlocks(entries);
    return unlessRejected(
      writeUnsynced(function* () {
        if (runsLocally) for (const block of blocks) yield* run(addBlock, { ...block });
        else if (blocks.length > 0) yield* run(addBlocks, callValues(addBlocks, blockColumns, blocks));
      }),
    );
  },

  addTraffic(reports) {
    const values = { reports: jsonRows(reports) };
    return unlessRejected(
      writeUnsynced(function* () {
        for (const each of [addTraffic, addUsage, keepLatest]) yield* run(each, values);
      }),
    );
  },

  // Reads blocks, newest first, until the page is full or enough requests were searched.
  listRequests: method(read, function* (organizationId, query) {
    const { before, since, limit, operation, credentialId, statusClass, code } = query;
    const matches = (request: LoggedRequest) =>
      (operation === undefined || request.operation === operation) &&
      (credentialId === undefined || request.credentialId === credentialId) &&
      (statusClass === undefined || Math.floor(request.status / 100) === statusClass) &&
      (code === undefined || request.code === code);
    const range = { organizationId, since, beforeAt: before.at };
    const found: LoggedRequest[] = [];
    let end: LogPosition = { at: Math.min(before.at + blockMs, newest.at), id: '' };
    let searched = 0;
    for (let most = firstBlocks; ; most = Math.min(2 * most, blocksAtOnceMax)) {
      const values = { ...range, endAt: end.at, endId: end.id, limit: most };
      const blocks = yield* rows<Block>(list, values);
      const inRange = blocks
        .flatMap((block) => parse(organizationId, block))
        .filter((request) => request.at >= since && compare(toPosition(request), before) < 0);
      searched += inRange.length;
      found.push(...inRange.filter(matches));
      const isLast = blocks.length < most;
      end = blocks.at(-1) ?? end;
      // The blocks that were not read may contain requests up to the time of the last block, from other nodes.
      const sure = isLast ? found : found.filter(({ at }) => at > end.at);
      const isEnough = sure.length >= limit || (searched >= searchMax && end.at + 1 < before.at);
      if (!isLast && !isEnough) continue;
      const requests = sure.sort((a, b) => compare(toPosition(b), toPosition(a))).slice(0, limit);
      const rest = isLast ? null : { at: end.at + 1, id: '' };
      return { requests, searched: requests.length === limit ? toPosition(requests.at(-1)!) : rest };
    }
  }),

  async findRequest(organizationId, traceId) {
    const startedAt = traceStart(traceId);
    if (startedAt === undefined) return undefined;
    const values = {
      first: startedAt - clockStepMsMax,
      last: startedAt + requestMsMax + blockMs,
      // A block has the trace ID of any of its requests.
      idEnd: traceIdStart(startedAt + clockStepMsMax),
      traceId,
    };
    const block = await read(() => row<Block>(find, { organizationId, ...values }));
    return block && parse(organizationId, block).find((request) => request.traceId === traceId);
  },

  findOldRequest: (organizationId, keep) => read(() => row<LogPosition>(findOld, { organizationId, keep })),

  removeRequests: method(write, function* (organizationId, position) {
    const end = yield* row<LogPosition>(findRemovalEnd, { organizationId, ...position });
    return yield* count(remove, { organizationId, ...(end ?? position) });
  }),

  listTraffic: (organizationId, unit, first, last) =>
    read(() => rows<TrafficCount>(listTraffic, { organizationId, unit, first, last })),

  listUsage(organizationId, firstDay, lastDay, limit, userId) {
    const wanted = userId === undefined ? listUsage : listUsageOfOwner;
    return read(() => rows<UsageCount>(wanted, { organizationId, firstDay, lastDay, limit, userId }));
  },

  readQuota: (organizationId, day) => read(() => row(readQuota, { organizationId, day })),

  countPrompt: authorized(
    writeUnsynced,
    function* (organizationId, userId, { period, personMax, organizationMax }, _authority) {
      if (period === 'mail') yield* run(removeMailUses, { organizationId });
      const own = yield* addUse({ organizationId, period, userId });
      if (own.prompts > personMax) return { over: 'person', resetMs: own.resetMs };
      const all = yield* addUse({ organizationId, period, userId: wholeOrganization });
      return all.prompts > organizationMax ? { over: 'organization', resetMs: all.resetMs } : 'counted';
    },
  ),
});
