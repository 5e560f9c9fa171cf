import type { MessageId } from '../../domain/id.ts';
import { insertNote, noteValues } from '../sql/audit.ts';
import { isRunning } from '../sql/messages.ts';
import { type Sql, sql, statement } from '../sql/sql.ts';
import { findThread, outcomeOfNoWrite } from '../sql/thread-reads.ts';
import type { Threads } from '../store.ts';
import type { Database } from './database.ts';
import { granted, isApiOpen, lockOwnThread, nextVersion, seenThread } from './thread-row.ts';

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
      WHERE organization_id = :organizationId AND user_id = ${user} AND account_key = :accountKey), 0)`;

/** Sizes as expressions: of the published threads, of the user's own, and of both together. */
export const publishedSize = sizeOf(sql`published`, sql`''`);
export const mineSize = sizeOf(sql`threads`, sql`:userId`);
export const ownSize = sql`${publishedSize} + ${sizeOf(sql`threads - published`, sql`:userId`)}`;

/** The organization's row is locked before the thread's, as by creates and renames. */
const lockOrganization = (condition: Sql) => sql`gate AS (
    SELECT id AS gate_id FROM organization WHERE id = :organizationId AND ${condition} FOR NO KEY UPDATE)`;

const softDelete = statement('delete-thread')`
  WITH ${seenThread}, ${lockOrganization(isApiOpen)}, ${granted(sql`gate`)},
  held_thread AS (${lockOwnThread(sql`granted`)}
  ), unchanged AS (
    SELECT held_thread.* FROM held_thread JOIN seen USING (version)
  ), deleted AS (
    UPDATE thread SET deleted_at = greatest(:now, unchanged.activity_at), ${nextVersion} FROM unchanged
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    RETURNING thread.user_id, thread.account_id, thread.deleted_at, -1 AS threads,
      CASE WHEN thread.published THEN -1 ELSE 0 END AS published
  ), cancelled AS (
    UPDATE message SET held = false, status = 'cancelled', completed_at = greatest(:now, message.created_at)
    FROM unchanged
    WHERE message.organization_id = :organizationId AND message.thread_id = :threadId AND ${isRunning}
    RETURNING message.id
  ), sizes AS (${adjustSizes(sql`deleted`)}
  ), noted AS (${insertNote(sql`deleted`, sql`:organizationId`, sql`deleted_at`)})
  SELECT EXISTS (SELECT FROM held_thread) AS held, EXISTS (SELECT FROM deleted) AS deleted,
    ARRAY(SELECT id FROM cancelled) AS cancelled`;
const restore = statement('restore-thread')`WITH ${lockOrganization(sql`true`)}, gone AS (
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
const publish = statement('publish-thread')`WITH ${lockOrganization(sql`true`)}, shown AS (
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
export function postgresThreadListing({
  run,
  read,
}: Database): Pick<Threads, 'deleteThread' | 'restoreThread' | 'setThreadPublished'> {
  const deleteThread: Threads['deleteThread'] = async (organizationId, threadId, writer, note) => {
    type Deletion = { held: boolean; deleted: boolean; cancelled: MessageId[] };
    const values = { ...writer, ...noteValues(note), organizationId, threadId };
    const [row] = await run<Deletion>(softDelete, values);
    const { held, deleted, cancelled } = row!;
    if (deleted) return { outcome: 'deleted', cancelled };
    // The thread was changed between the read and the lock: a reply may have been added, which must be cancelled too.
    if (held) return deleteThread(organizationId, threadId, writer, note);
    return read(() => outcomeOfNoWrite(organizationId, threadId, writer));
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
