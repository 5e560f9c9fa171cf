import type { OrganizationId } from '../../domain/id.ts';
import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import type { Thread } from '../../domain/thread.ts';
import { dayMs, hourMs } from '../../domain/time.ts';
import type { TableName } from '../port/archive.ts';
import { accountKey } from '../port/listings.ts';
import type { Retention } from '../port/store.ts';
import { blocksPerRemoval } from './requests.ts';
import { identifier, jsonRows, type Sql, type Statement, sql, statement } from './sql.ts';
import { count, row, rows, run, type Transactions, type Work } from './work.ts';

interface RetentionRule {
  readonly table: TableName;
  /** The time from which a row ages. An index orders an organization's rows by it, so that no batch scans a table. */
  readonly column: string;
  /** The unit of the column: a millisecond by default. */
  readonly unitMs?: number;
  /** Which rows of the table, if not all of them. */
  readonly only?: Sql;
  /** One batch removes at most this many rows: `batchRows` by default. */
  readonly rowsMax?: number;
}

export const retentionRules: Readonly<Record<RetentionKind, RetentionRule>> = {
  deleted_threads: { table: 'thread', column: 'deleted_at', only: sql`AND deleted_at IS NOT NULL` },
  audit_events: { table: 'audit_event', column: 'at' },
  usage_days: { table: 'usage_day', column: 'day', unitMs: dayMs },
  requests: { table: 'request_block', column: 'at', rowsMax: blocksPerRemoval },
  traffic_hours: { table: 'traffic', column: 'period', unitMs: hourMs, only: sql`AND unit = 'hour'` },
  traffic_days: { table: 'traffic', column: 'period', unitMs: dayMs, only: sql`AND unit = 'day'` },
  quota_days: { table: 'quota_use', column: 'day', unitMs: dayMs },
  idempotency_keys: { table: 'idempotency_key', column: 'expires_at' },
  sessions: { table: 'session', column: 'expires_at' },
  invitations: { table: 'invitation', column: 'expires_at' },
  thread_moves: { table: 'thread_move', column: 'moved_at' },
  revoked_keys: { table: 'api_key', column: 'revoked_at' },
};

export const batchRows = 500;
const batchOrganizations = 500;
const countMax = 10_000;

/** How a database removes rows for good. */
export interface Removal {
  readonly statement: ReturnType<typeof Statement.for>;
  /** The condition may end with an ORDER BY. `skipLocked`: skip rows that are locked. `hint`: for SQLite. */
  deleteFirst(table: TableName, condition: Sql, options?: { skipLocked?: boolean; hint?: Sql }): Sql;
  /** One statement removes at most this many rows. */
  readonly rowsAtOnce: number;
  /** A transaction ends after this time and leaves the rest to the next one. */
  readonly transactionMs: number;
}

/** Greater than every organization id. */
const end = '~';

const removeUses = statement('remove-uses-of-keys')`DELETE FROM credential_use
  WHERE organization_id = :organizationId AND credential_id IN (
    SELECT entry.value ->> 'id' FROM json_each(:keys) AS entry)`;
const findPageEnd = statement('find-retention-page')`
  SELECT id FROM organization WHERE id > :place ORDER BY id LIMIT 1 OFFSET ${batchOrganizations - 1}`;

/** The statements for rows of one kind. */
export function retentionStatements(kind: RetentionKind, removal: Removal) {
  const { statement } = removal;
  const { table, column, unitMs = 1, only = sql`` } = retentionRules[kind];
  const [source, age] = [identifier(table), identifier(column)];
  const belongToOrganizations = kind !== 'sessions';
  // Rows from before this time, in the unit of their column, were kept longer than `:keepMs`.
  const keptSince = sql`(SELECT CAST((:now - CAST(:keepMs AS bigint)) / ${unitMs} AS bigint))`;
  const isOwned = (owner: Sql) =>
    belongToOrganizations ? sql`organization_id = ${owner} ${only}` : sql`true`;
  const isDue = (owner: Sql) => sql`${isOwned(owner)} AND ${age} < ${keptSince}`;
  const oldestDue = sql`${isDue(sql`:organizationId`)} ORDER BY ${age}`;
  const remove =
    kind === 'deleted_threads'
      ? sql`SELECT id FROM thread WHERE ${oldestDue} LIMIT :limit FOR UPDATE SKIP LOCKED`
      : sql`${removal.deleteFirst(table, oldestDue, { skipLocked: true })}
        RETURNING ${kind === 'revoked_keys' ? sql`id` : sql`1`}`;
  return {
    /** Removes the due rows of an organization. For threads: locks them and returns their ids. */
    remove: statement(`remove-expired-${kind}`)`${remove}`,
    /** The organizations of a page that have due rows. Checks the oldest row: PostgreSQL would scan for an arbitrary one. */
    findOwners: statement(`owners-of-expired-${kind}`)`
      SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
        SELECT min(${age}) FROM ${source} WHERE ${isOwned(sql`organization.id`)}
      ) < ${keptSince} ORDER BY id`,
    count: statement(`count-expired-${kind}`)`SELECT count(*) AS due FROM (
      SELECT 1 FROM ${belongToOrganizations ? sql`organization CROSS JOIN ${source}` : source}
      WHERE ${isDue(sql`organization.id`)} LIMIT ${countMax}) AS counted`,
  };
}

/** Returns a function that says whether a transaction that starts now should end. */
export function deadline({ transactionMs }: Removal): () => boolean {
  const startedAt = performance.now();
  return () => performance.now() - startedAt > transactionMs;
}

export function threadStatements({ statement, deleteFirst }: Removal) {
  const ofThread = sql`organization_id = :organizationId AND thread_id = :threadId`;
  return {
    removeMessages: statement('remove-messages-of-thread')`${deleteFirst('message', ofThread)} RETURNING 1`,
    removeKeys: statement('remove-keys-of-thread')`DELETE FROM idempotency_key WHERE ${ofThread} RETURNING 1`,
    removeThread: statement('remove-thread')`DELETE FROM thread
      WHERE organization_id = :organizationId AND id = :threadId AND deleted_at IS NOT NULL
      RETURNING user_id AS "userId", account_id AS "accountId"`,
    // Skips locked rows: the change that locked one may lock another that is removed here, which would be a deadlock.
    removeSizes: statement('remove-empty-sizes-of-account')`${deleteFirst(
      'listing_size',
      sql`organization_id = :organizationId AND user_id IN ('', :userId) AND account_key = :account
        AND threads = 0 AND published = 0`,
      { skipLocked: true },
    )} RETURNING user_id AS "userId"`,
  };
}

/**
 * Removes locked threads, with at most `limit` of their rows. A thread stays while it has messages. The sizes of an
 * account, which name it, go with its last thread.
 */
export function threadRemoval(removal: Removal) {
  const { removeMessages, removeKeys, removeThread, removeSizes } = threadStatements(removal);
  return function* (
    organizationId: OrganizationId,
    threads: readonly { readonly id: string }[],
    limit: number,
    isLate: () => boolean,
  ): Work<Record<'message' | 'idempotency_key' | 'thread' | 'listing_size', number>> {
    const gone = { message: 0, idempotency_key: 0, thread: 0, listing_size: 0 };
    for (const { id: threadId } of threads) {
      const values = { organizationId, threadId };
      let [most, removed] = [0, 0];
      do {
        most = Math.min(removal.rowsAtOnce, limit - gone.message - gone.thread);
        removed = yield* count(removeMessages, { ...values, limit: most });
        gone.message += removed;
        if (gone.message + gone.thread >= limit || (removed > 0 && isLate())) return gone;
      } while (removed === most);
      gone.idempotency_key += yield* count(removeKeys, values);
      const thread = yield* row<Pick<Thread, 'userId' | 'accountId'>>(removeThread, values);
      gone.thread += 1;
      if (thread === undefined || thread.accountId === null) continue;
      const { userId, accountId } = thread;
      const account = accountKey(accountId);
      const sizes = yield* rows<{ userId: string }>(removeSizes, {
        organizationId,
        userId,
        account,
        limit: 2,
      });
      // The row for all users does not belong to a person.
      gone.listing_size += sizes.filter((size) => size.userId === userId).length;
    }
    return gone;
  };
}

type RetentionStatements = ReturnType<typeof retentionStatements>;
type Owner = { readonly id: OrganizationId };

export function retention({ read, writeUnsynced }: Transactions, removal: Removal): Retention {
  const ofKinds = retentionKinds.map((kind) => [kind, retentionStatements(kind, removal)]);
  const statements: Record<RetentionKind, RetentionStatements> = Object.fromEntries(ofKinds);
  const removeThreads = threadRemoval(removal);

  function* removeExpiredRows(
    organizationId: OrganizationId,
    kind: RetentionKind,
    keepMs: number,
    limit: number,
    isLate: () => boolean,
  ): Work<{ removed: number; rows: number; mayHaveMore: boolean }> {
    const due = yield* rows<{ id: string }>(statements[kind].remove, { organizationId, keepMs, limit });
    if (kind === 'revoked_keys') yield* run(removeUses, { organizationId, keys: jsonRows(due) });
    if (kind !== 'deleted_threads')
      return { removed: due.length, rows: due.length, mayHaveMore: due.length === limit };
    const { thread, message } = yield* removeThreads(organizationId, due, limit, isLate);
    const mayHaveMore = thread < due.length || due.length === limit;
    return { removed: thread, rows: thread + message, mayHaveMore };
  }

  return {
    async removeExpired(kind, keepMs, place) {
      if (kind === 'sessions') {
        const values = { keepMs, limit: batchRows };
        const removed = await writeUnsynced(() => count(statements[kind].remove, values));
        return { removed, rows: removed, next: removed === batchRows ? place : null };
      }
      const { pageEnd, owners } = await read(function* () {
        const pageEnd = (yield* row<Owner>(findPageEnd, { place }))?.id ?? null;
        const values = { place, pageEnd: pageEnd ?? end, keepMs };
        return { pageEnd, owners: yield* rows<Owner>(statements[kind].findOwners, values) };
      });
      if (owners.length === 0) return { removed: 0, rows: 0, next: pageEnd };
      return writeUnsynced(function* () {
        const isLate = deadline(removal);
        const { rowsMax = batchRows } = retentionRules[kind];
        const batch = { removed: 0, rows: 0, next: place };
        for (const { id } of owners) {
          const gone = yield* removeExpiredRows(id, kind, keepMs, rowsMax - batch.rows, isLate);
          batch.removed += gone.removed;
          batch.rows += gone.rows;
          if (gone.mayHaveMore) return batch;
          batch.next = id;
          if (batch.rows >= rowsMax || isLate()) return batch;
        }
        return { ...batch, next: pageEnd };
      });
    },

    async countExpired(kind, keepMs) {
      return (await read(() => row<{ due: number }>(statements[kind].count, { keepMs })))!.due;
    },
  };
}
