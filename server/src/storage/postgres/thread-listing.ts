import type { MessageId } from '../../domain/id.ts';
import { insertNotes, noteCalls, noteValues } from '../sql/audit.ts';
import { isRunning } from '../sql/messages.ts';
import { opaque, type Sql, sql, statement } from '../sql/sql.ts';
import { nextVersion } from '../sql/thread-changes.ts';
import { outcomeOfNoWrite } from '../sql/thread-reads.ts';
import type { Threads } from '../store.ts';
import { askedWith, type Database } from './database.ts';
import { isGranted, isOwnThread } from './thread-row.ts';

/**
 * Updates the sizes of listings in the statement that changes a thread. `changed` has one row or none, with the thread's
 * user_id and account_id and by how much `threads` and `published` change.
 */
export const adjustSizes = (changed: Sql) => sql`
      INSERT INTO listing_size AS size (organization_id, user_id, account_key, threads, published)
      SELECT :organizationId, row_user, row_account, sum(row_threads), sum(row_published) FROM ${changed} AS changed
      CROSS JOIN LATERAL unnest(
        CASE WHEN account_id IS NULL THEN ARRAY[''] ELSE ARRAY['', '=' || account_id] END) AS row_account
      -- The row of all users counts published threads only.
      CROSS JOIN LATERAL (VALUES (user_id, changed.threads, changed.published), ('', 0, changed.published))
        AS part (row_user, row_threads, row_published)
      WHERE row_user <> '' OR row_published <> 0
      GROUP BY row_user, row_account
      -- Always in the same order, so that two statements that change the same rows cannot deadlock.
      ORDER BY row_user, row_account
      ON CONFLICT (organization_id, user_id, account_key)
      DO UPDATE SET threads = size.threads + excluded.threads, published = size.published + excluded.published`;

const deleteCalls = { threadId: 'text', userId: 'text', keyHash: 'text', ...noteCalls } as const;

/**
 * The running reply is read as of the start of the statement, which may then have waited for its locks: it counts only if
 * the locked thread still has the version that was seen.
 */
const softDelete = statement('delete-thread')`WITH asked AS (
    SELECT * FROM ${askedWith(deleteCalls)}
  ), seen AS (
    SELECT id, version FROM asked JOIN thread ON organization_id = :organizationId AND id = thread_id
  ), gate AS (
    SELECT id AS gate_id, api_enabled FROM organization WHERE id = :organizationId FOR NO KEY UPDATE
  ), granted AS (
    SELECT asked.* FROM gate JOIN asked ON ${isGranted(sql`gate`)}
  ), held_thread AS (
    SELECT granted.*, organization_id, activity_at, version FROM granted JOIN thread
      ON organization_id = :organizationId AND thread.id = granted.thread_id AND ${isOwnThread(sql`granted`)}
    ORDER BY thread.id FOR UPDATE OF thread
  ), unchanged AS (
    SELECT held_thread.* FROM held_thread JOIN seen ON seen.id = thread_id AND seen.version = held_thread.version
  ), held_reply AS (
    SELECT message.thread_id, message.id FROM unchanged JOIN message
      ON message.organization_id = :organizationId AND message.thread_id = unchanged.thread_id
      AND ${opaque(isRunning)}
    ORDER BY message.thread_id, message.id FOR UPDATE OF message
  ), deleted AS (
    UPDATE thread SET deleted_at = greatest(:now, unchanged.activity_at), ${nextVersion} FROM unchanged
    WHERE thread.organization_id = :organizationId AND thread.id = unchanged.thread_id
    RETURNING unchanged.*, thread.account_id, thread.deleted_at, -1 AS threads,
      CASE WHEN thread.published THEN -1 ELSE 0 END AS published
  ), cancelled AS (
    UPDATE message SET held = false, status = 'cancelled', completed_at = greatest(:now, message.created_at)
    FROM held_reply WHERE message.organization_id = :organizationId AND message.thread_id = held_reply.thread_id
      AND message.id = held_reply.id
    RETURNING message.thread_id, message.id
  ), sizes AS (${adjustSizes(sql`deleted`)}
  ), noted AS (${insertNotes(sql`deleted`, sql`deleted_at`)})
  SELECT place, place IN (SELECT place FROM deleted) AS deleted,
    ARRAY(SELECT id FROM cancelled WHERE cancelled.thread_id = held_thread.thread_id) AS cancelled
  FROM held_thread`;

/** The operations that add a thread to listings or remove it from them, and so change their sizes. */
export function postgresThreadListing(database: Database): Pick<Threads, 'deleteThread'> {
  const { read } = database;
  type Deletion = { deleted: boolean; cancelled: MessageId[] };
  const batchLimits = { batchesMax: 1, key: 'threadId' };
  const batchDeletes = database.batched<Deletion>(softDelete, deleteCalls, batchLimits);

  const deleteThread: Threads['deleteThread'] = async (organizationId, threadId, writer, note) => {
    const [held] = await batchDeletes({ ...writer, ...noteValues(note), organizationId, threadId });
    if (held === undefined) return read(() => outcomeOfNoWrite(organizationId, threadId, writer));
    if (held.deleted) return { outcome: 'deleted', cancelled: held.cancelled };
    // The thread was changed between the read and the lock: a reply may have been added, which must be cancelled too.
    return deleteThread(organizationId, threadId, writer, note);
  };

  return { deleteThread };
}
