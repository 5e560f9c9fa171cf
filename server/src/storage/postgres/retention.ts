import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import { batchOrganizations, batchRows, countMax, retentionRules } from '../removal-rules.ts';
import { empty, identifier, type Sql, type Statement, sql, statement, type Values } from '../sql/sql.ts';
import { row, rows, type Work } from '../sql/work.ts';
import type { Retention } from '../store.ts';
import type { Database } from './database.ts';

interface BatchRow {
  removed: number;
  organizations: number;
  last: OrganizationId | null;
}

/** The organizations that a batch covers: those after `place`. */
const page = sql`page AS MATERIALIZED (
    SELECT id FROM organization WHERE id > :place ORDER BY id LIMIT ${batchOrganizations})`;
const pageColumns = sql`(SELECT count(*) FROM page) AS organizations, (SELECT max(id) FROM page) AS last`;

/** Selects rows that have been kept longer than `keepMs`: of the organization `owner`, or of all for sessions. */
function selectDue(kind: RetentionKind, columns: Sql, owner: Sql, rest: Sql): Sql {
  const { table, column, unitMs } = retentionRules[kind];
  const ofOwner = kind === 'sessions' ? sql`true` : sql`organization_id = ${owner}`;
  return sql`SELECT ${columns} FROM ${identifier(table)} WHERE ${ofOwner}
    AND ${identifier(column)} < (SELECT (:now - :keepMs::bigint) / ${unitMs}) ${rest}`;
}

/** Locks the due rows of a page, except those that another node is removing now. */
function lockDue(kind: RetentionKind, columns: Sql): Sql {
  const order = identifier(retentionRules[kind].column);
  const rest = sql`ORDER BY ${order} LIMIT ${batchRows} FOR UPDATE SKIP LOCKED`;
  const due = selectDue(kind, columns, sql`page.id`, rest);
  if (kind === 'sessions') return due;
  return sql`SELECT part.* FROM page CROSS JOIN LATERAL (${due}) AS part LIMIT ${batchRows}`;
}

// By ctid, which the same statement has looked up and locked, so that no plan can turn into a scan of the table.
const removeDue = (kind: RetentionKind) => sql`WITH ${page}, removed AS (
    DELETE FROM ${identifier(retentionRules[kind].table)} WHERE ctid = ANY (ARRAY(${lockDue(kind, sql`ctid`)}))
    RETURNING 1
  ) SELECT count(*) AS removed, ${pageColumns} FROM removed`;

function countDue(kind: RetentionKind): Sql {
  const due = selectDue(kind, empty, sql`organization.id`, sql`LIMIT ${countMax}`);
  const all = sql`SELECT FROM organization CROSS JOIN LATERAL (${due}) AS part LIMIT ${countMax}`;
  return sql`SELECT count(*) AS due FROM (${kind === 'sessions' ? due : all}) AS counted`;
}

function perKind(verb: string, textOf: (kind: RetentionKind) => Sql): Record<RetentionKind, Statement> {
  const named = retentionKinds.map((kind) => [kind, statement(`${verb}-expired-${kind}`)`${textOf(kind)}`]);
  return Object.fromEntries(named);
}

const remove = perKind('remove', removeDue);
const count = perKind('count', countDue);
const lockThreads = statement('find-expired-threads')`WITH ${page}
  ${lockDue('deleted_threads', sql`organization_id AS "organizationId", id AS "threadId"`)}`;
const readPage = statement('read-retention-page')`WITH ${page} SELECT ${pageColumns}`;

export function postgresRetention({ run, write }: Database): Retention {
  /** Several statements, because one does not see what it has itself deleted: threads go after their messages. */
  function removeThreads(values: Values): Promise<BatchRow & { more: boolean }> {
    return write(function* () {
      const covered = (yield* row<BatchRow>(readPage, values))!;
      const threads = yield* rows<ThreadName>(lockThreads, values);
      if (threads.length === 0) return { ...covered, removed: 0, more: false };
      const { threads: removed } = yield* removeDeletedThreads(threads, batchRows);
      return { ...covered, removed, more: removed < threads.length || threads.length === batchRows };
    });
  }

  async function removeRows(kind: RetentionKind, values: Values): Promise<BatchRow & { more: boolean }> {
    const [row] = await run<BatchRow>(remove[kind], values);
    return { ...row!, more: row!.removed === batchRows };
  }

  return {
    async removeExpired(kind, keepMs, place) {
      const { removed, more, organizations, last } = await (kind === 'deleted_threads'
        ? removeThreads({ keepMs, place })
        : removeRows(kind, { keepMs, place }));
      if (more) return { removed, next: place };
      const done = kind === 'sessions' || organizations < batchOrganizations;
      return { removed, next: done ? null : last };
    },

    async countExpired(kind, keepMs) {
      const [row] = await run<{ due: number }>(count[kind], { keepMs });
      return row!.due;
    },
  };
}

export interface ThreadName {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
}

/**
 * Deletes rows of `table` that belong to the named threads. It deletes by ctid, which the same statement has looked up by
 * index, so that no plan can turn into a scan of the table.
 */
const removeOfThreads = (table: Sql, isOfThread: Sql, limit: Sql = empty) => sql`WITH removed AS (
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT part.ctid FROM unnest(:organizationIds::text[], :threadIds::text[]) AS named (organization_id, id)
      CROSS JOIN LATERAL (
        SELECT ${table}.ctid FROM ${table}
        WHERE ${table}.organization_id = named.organization_id AND ${isOfThread} ${limit}) AS part
      ${limit})) RETURNING 1
  ) SELECT count(*) AS count FROM removed`;

const removeMessages = statement('remove-messages')`
  ${removeOfThreads(sql`message`, sql`thread_id = named.id`, sql`LIMIT :limit`)}`;
const removeKeys = statement('remove-keys-of-threads')`
  ${removeOfThreads(sql`idempotency_key`, sql`thread_id = named.id`)}`;
const deleteThreads = statement('remove-threads')`${removeOfThreads(
  sql`thread`,
  sql`thread.id = named.id AND deleted_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM message WHERE message.organization_id = named.organization_id AND thread_id = named.id)`,
)}`;

/**
 * Removes deleted threads for good, with at most `limit` of their messages; a thread stays while it has messages. To be
 * called in a transaction that has locked the threads.
 */
export function* removeDeletedThreads(
  threads: readonly ThreadName[],
  limit: number,
): Work<{ messages: number; idempotencyKeys: number; threads: number }> {
  const values = {
    organizationIds: threads.map(({ organizationId }) => organizationId),
    threadIds: threads.map(({ threadId }) => threadId),
    limit,
  };
  function* removed(removal: Statement): Work<number> {
    return (yield* row<{ count: number }>(removal, values))!.count;
  }
  const messages = yield* removed(removeMessages);
  const idempotencyKeys = yield* removed(removeKeys);
  return { messages, idempotencyKeys, threads: yield* removed(deleteThreads) };
}
