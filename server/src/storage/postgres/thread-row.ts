import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { type Sql, sql, statement } from '../sql/sql.ts';
import type { Run } from './database.ts';

/** The columns of a listed thread: `relation` has the names of the table's columns. */
export const listedColumns = (
  relation: Sql,
) => sql`${relation}.id, ${relation}.user_id AS "userId", ${relation}.title,
    ${relation}.account_id AS "accountId", ${relation}.secondary_id AS "secondaryId",
    ${relation}.created_at AS "createdAt", ${relation}.updated_at AS "updatedAt", ${relation}.published`;

export const threadColumns = sql`thread.organization_id AS "organizationId", ${listedColumns(sql`thread`)},
    thread.deleted_at AS "deletedAt"`;

/**
 * For the SET clause of every UPDATE of a thread: a number that no earlier change had. It is the time unless the clock is
 * behind, so that a version lost to a power cut or to a restored backup is not used again.
 */
export const nextVersion = sql`version = greatest(thread.version + 1, :now)`;

/** A condition on the row of a thread: the reader may read it. */
export const isReadable = sql`deleted_at IS NULL AND (published OR user_id = :userId)`;

/**
 * The user's thread as the latest commit left it, locked until ours: PostgreSQL rereads a row that it waited for. `gate`
 * is the relation that holds the organization's row.
 */
export const lockOwnThread = (gate: Sql) => sql`
      SELECT thread.*, ${gate}.* FROM ${gate} JOIN thread ON organization_id = :organizationId
        AND thread.id = :threadId AND user_id = :userId AND deleted_at IS NULL FOR UPDATE OF thread`;

/**
 * The thread as it was when the statement started, like all rows that the statement does not lock. If its version differs
 * from that of the locked row, the thread was changed while the statement waited, and so may those other rows have been.
 */
export const seenThread = sql`seen AS (
      SELECT version, user_id, deleted_at FROM thread WHERE organization_id = :organizationId AND id = :threadId
    )`;

/**
 * Part of a statement that moves a thread: records the position that it leaves, so that walks in progress still meet it
 * there. `left` has one row or none, with the thread as it was and the `tick_at` and `tick_sequence` of the move.
 */
export const insertMove = (left: Sql) => sql`moved AS (
      INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
      SELECT :organizationId, tick_sequence, :threadId, activity_at, tick_at FROM ${left}
    )`;

const find = statement('find-thread')`
  SELECT ${threadColumns} FROM thread WHERE organization_id = :organizationId AND id = :threadId`;

export async function findThread(
  run: Run,
  organizationId: OrganizationId,
  threadId: ThreadId,
): Promise<Thread | undefined> {
  return (await run<Thread>(find, { organizationId, threadId }))[0];
}

/** Without the other columns that the row has. */
export function threadOf(row: Thread): Thread {
  const { organizationId, id, userId, title, accountId, secondaryId, createdAt, updatedAt } = row;
  const { published, deletedAt } = row;
  return {
    organizationId,
    id,
    userId,
    title,
    accountId,
    secondaryId,
    createdAt,
    updatedAt,
    published,
    deletedAt,
  };
}
