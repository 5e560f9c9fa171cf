import type { MessageId } from '../../domain/id.ts';
import { insertNote, insertNotes, noteCalls, noteValues } from '../sql/audit.ts';
import { isRunning } from '../sql/messages.ts';
import { type Sql, sql, statement } from '../sql/sql.ts';
import { findThread, outcomeOfNoWrite } from '../sql/thread-reads.ts';
import type { Threads } from '../store.ts';
import { askedWith, type Database } from './database.ts';
import { isGranted, isOwnThread, nextVersion, opaque } from './thread-row.ts';

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

const sizeOf = (amount: Sql, user: Sql) => sql`coalesce((SELECT ${amount} FROM listing_size
      WHERE organization_id = asked.organization_id AND user_id = ${user} AND account_key = asked.account_key), 0)`;

/** Sizes of the listing that is asked for, as expressions: of the published threads, of the user's own, and of both together. */
export const publishedSize = sizeOf(sql`published`, sql`''`);
export const mineSize = sizeOf(sql`threads`, sql`asked.user_id`);
export const ownSize = sql`${publishedSize} + ${sizeOf(sql`threads - published`, sql`asked.user_id`)}`;

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

/** The organization's row is locked before the thread's, as by creates and renames. */
const lockOrganization = sql`gate AS (SELECT FROM organization WHERE id = :organizationId FOR NO KEY UPDATE)`;
const restore = statement('restore-thread')`WITH ${lockOrganization}, gone AS (
    SELECT thread.* FROM gate JOIN thread ON organization_id = :organizationId AND thread.id = :threadId
      AND user_id = :userId AND deleted_at >= :now - :withinMs::bigint FOR UPDATE OF thread
  ), restored AS (
    UPDATE thread SET deleted_at = NULL, ${nextVersion} FROM gone
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    RETURNING thread.user_id, thread.account_id, gone.deleted_at, 1 AS threads,
      CASE WHEN thread.published THEN 1 ELSE 0 END AS published
  ), sizes AS (${adjustSizes(sql`restored`)}
  ), noted AS (${insertNote(sql`restored`, sql`:organizationId`, sql`greatest(:now, deleted_at)`)})
  SELECT 1 FROM restored`;
const publish = statement('publish-thread')`WITH ${lockOrganization}, shown AS (
    SELECT thread.* FROM gate JOIN thread ON organization_id = :organizationId AND thread.id = :threadId
      AND deleted_at IS NULL AND published <> :published FOR UPDATE OF thread
  ), changed AS (
    UPDATE thread SET published = :published, ${nextVersion} FROM shown
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    RETURNING thread.user_id, thread.account_id, 0 AS threads,
      CASE WHEN thread.published THEN 1 ELSE -1 END AS published
  ), sizes AS (${adjustSizes(sql`changed`)}
  ), noted AS (${insertNote(sql`changed`, sql`:organizationId`, sql`:now`)})
  SELECT 1 FROM changed`;

/** The operations that add a thread to listings or remove it from them, and so change their sizes. */
export function postgresThreadListing(
  database: Database,
): Pick<Threads, 'deleteThread' | 'restoreThread' | 'setThreadPublished'> {
  const { run, read } = database;
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

  return {
    deleteThread,

    async restoreThread(organizationId, threadId, userId, withinMs, note) {
      const values = { organizationId, threadId, userId, withinMs, ...noteValues(note) };
      return (await run(restore, values)).length === 1 ? 'restored' : 'missing';
    },

    async setThreadPublished(organizationId, threadId, published, note) {
      const values = { organizationId, threadId, published, ...noteValues(note) };
      if ((await run(publish, values)).length === 1) return 'done';
      const thread = await read(() => findThread(organizationId, threadId));
      return thread !== undefined && thread.deletedAt === null ? 'done' : 'missing';
    },
  };
}
