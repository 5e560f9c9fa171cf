import type { OrganizationId } from '../../domain/id.ts';
import type { Threads } from '../port/store.ts';
import { insertNote, noteValues } from '../sql/audit.ts';
import { authorityValues, isAuthorized, unauthorized } from '../sql/authority.ts';
import { type Exceeded, exceeded, isRunning, roomValues } from '../sql/replies.ts';
import { postgresStatement, type Sql, type Statement, sql, type Values } from '../sql/sql.ts';
import { findThread, nextVersion } from '../sql/thread-reads.ts';
import { type Database, isolatedLockMs } from './database.ts';
import { isOneGranted } from './grants.ts';

/** For a change that listings show although no thread moves: nodes keep pages until a sequence is raised. */
export const invalidateListings = sql`move_sequence = move_sequence + 1, latest_at = greatest(:now, latest_at)`;

/** Updates the sizes of listings: `changed` has a thread's owner and account, and how `threads` and `published` change. */
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

/** Sizes are read before the locks are taken, so they are valid only if the locked thread has the same version. */
const addReply = postgresStatement('add-reply')`WITH seen AS (
    SELECT version, user_id, deleted_at FROM thread
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
  ), latest AS (
    SELECT id, ${isRunning} AS running, CASE status WHEN 'completed' THEN 0 ELSE crashes END AS crashes,
      :replaces::text IS NOT NULL AND :replaces <> (
        SELECT prompt.id FROM message AS prompt WHERE prompt.organization_id = :organizationId
          AND prompt.thread_id = :threadId AND prompt.role = 'user'
        ORDER BY prompt.created_at DESC, prompt.id DESC LIMIT 1) AS outdated
    FROM seen JOIN message
      ON message.organization_id = :organizationId AND message.thread_id = :threadId AND role = 'assistant'
    WHERE seen.user_id = :userId AND seen.deleted_at IS NULL
    ORDER BY message.created_at DESC, message.id DESC LIMIT 1
  ), size AS (
    SELECT ${exceeded} AS exceeded FROM latest JOIN message
      ON message.organization_id = :organizationId AND message.thread_id = :threadId
  ), tick AS (
    UPDATE organization SET latest_at = greatest(:now, latest_at + 1),
      move_sequence = move_sequence + CASE WHEN :messageId::text IS NULL THEN 0 ELSE 1 END
    WHERE id = :organizationId AND set_config('lock_timeout', :lockMs::text, true) <> ''
      AND EXISTS (SELECT FROM latest, size WHERE NOT running AND NOT outdated AND exceeded IS NULL)
    RETURNING id AS gate_id, api_enabled, latest_at AS tick_at, move_sequence AS tick_sequence
  ), granted AS (
    SELECT tick.* FROM tick WHERE ${isOneGranted(sql`tick`)}
  ), held_thread AS (
    SELECT version, activity_at, granted.* FROM granted JOIN thread ON organization_id = :organizationId
      AND thread.id = :threadId AND CASE WHEN user_id = :userId AND deleted_at IS NULL THEN true END
    FOR UPDATE OF thread
  ), same AS (
    SELECT held_thread.* FROM held_thread JOIN seen USING (version)
  ), moved AS (
    INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
    SELECT :organizationId, tick_sequence, :threadId, activity_at, tick_at FROM same WHERE :messageId IS NOT NULL
  ), prompt AS (
    INSERT INTO message (organization_id, thread_id, id, role, content, created_at, replaces)
    SELECT :organizationId, :threadId, :messageId, 'user', :content, tick_at, :replaces FROM same
    WHERE :messageId IS NOT NULL
  ), reply AS (
    INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
      held, claim_token, available_at, attempts, crashes, deadline_at, trace_id)
    SELECT :organizationId, :threadId, :replyId, 'assistant', '', tick_at, 'in_progress', '[]', false, 0, tick_at, 0,
      latest.crashes, tick_at + :replyDeadlineMs::bigint, :traceId FROM same, latest
  ), superseded AS (
    UPDATE message SET unanswered_at = NULL FROM same, latest
    WHERE message.organization_id = :organizationId AND message.thread_id = :threadId AND message.id = latest.id
      AND (:messageId IS NULL OR :replaces IS NOT NULL) AND unanswered_at IS NOT NULL
  ), changed AS (
    UPDATE thread SET updated_at = CASE WHEN :messageId IS NULL THEN updated_at ELSE tick_at END,
      activity_at = CASE WHEN :messageId IS NULL THEN thread.activity_at ELSE tick_at END, ${nextVersion} FROM same
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
  )
  SELECT running, outdated, exceeded, (SELECT tick_at FROM same) AS at,
    EXISTS (SELECT FROM tick) AND NOT EXISTS (SELECT FROM granted) AS refused
  FROM latest, size`;

interface AddedRow extends Exceeded {
  running: boolean;
  outdated: boolean;
  /** When the reply was added; null if it was not. */
  at: number | null;
  /** The authority does not hold. */
  refused: boolean;
}

// A thread enters or leaves listings. The organization's row is locked before the thread's, as by creates and renames. If there
// is nothing to change, it is neither locked nor written, because a write would invalidate the cached listings on every node.
const restore = postgresStatement('restore-thread')`WITH gate AS (
    UPDATE organization SET ${invalidateListings}
    WHERE id = :organizationId AND set_config('lock_timeout', :lockMs::text, true) <> '' AND EXISTS (
      SELECT FROM thread WHERE thread.organization_id = :organizationId AND thread.id = :threadId
        AND CASE WHEN user_id = :userId AND deleted_at >= :now - :withinMs::bigint THEN true END)
    RETURNING id AS gate_id, api_enabled
  ), granted AS (
    SELECT FROM gate WHERE ${isOneGranted(sql`gate`)}
  ), before AS (
    SELECT deleted_at FROM granted JOIN thread ON thread.organization_id = :organizationId AND thread.id = :threadId
      AND CASE WHEN user_id = :userId AND deleted_at >= :now - :withinMs::bigint THEN true END
    FOR UPDATE OF thread
  ), changed AS (
    UPDATE thread SET deleted_at = NULL, version = greatest(thread.version + 1, :now) FROM before
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    RETURNING organization_id, user_id, account_id, greatest(:now, before.deleted_at) AS at,
      1 AS threads, CASE WHEN published THEN 1 ELSE 0 END AS published
  ), sizes AS (${adjustSizes(sql`changed`)}
  ), noted AS (${insertNote(sql`changed`, sql`at`)})
  SELECT at FROM changed`;
const publish = postgresStatement('publish-thread')`WITH gate AS (
    UPDATE organization SET ${invalidateListings}
    WHERE id = :organizationId AND set_config('lock_timeout', :lockMs::text, true) <> '' AND EXISTS (
      SELECT FROM thread WHERE thread.organization_id = :organizationId AND thread.id = :threadId
        AND CASE WHEN deleted_at IS NULL AND published <> :published THEN true END)
    RETURNING id AS gate_id, api_enabled
  ), granted AS (
    SELECT FROM gate WHERE ${isOneGranted(sql`gate`)}
  ), before AS (
    SELECT deleted_at FROM granted JOIN thread ON thread.organization_id = :organizationId AND thread.id = :threadId
      AND CASE WHEN deleted_at IS NULL AND published <> :published THEN true END
    FOR UPDATE OF thread
  ), changed AS (
    UPDATE thread SET published = :published, version = greatest(thread.version + 1, :now) FROM before
    WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    RETURNING organization_id, user_id, account_id, greatest(:now, before.deleted_at) AS at,
      0 AS threads, CASE WHEN published THEN 1 ELSE -1 END AS published
  ), sizes AS (${adjustSizes(sql`changed`)}
  ), noted AS (${insertNote(sql`changed`, sql`at`)})
  SELECT at FROM changed`;

/** One statement each, so that the organization's row, which its creates wait for, is not locked during a round trip. */
export function postgresThreadChanges(
  database: Database,
): Pick<Threads, 'addReply' | 'restoreThread' | 'setThreadPublished'> {
  const { run, read } = database;
  // Without an organization, it would not wait for its turn.
  type OfOrganization = Values & { readonly organizationId: OrganizationId };
  const change = <Row>(statement: Statement, values: OfOrganization): Promise<Row[]> =>
    database.inTurn(values.organizationId, isolatedLockMs, () =>
      run<Row>(statement, { ...values, lockMs: isolatedLockMs }),
    );

  const add: Threads['addReply'] = async (organizationId, threadId, reply, authority) => {
    const { userId } = authority;
    const prompt = { messageId: null, content: null, replaces: null, ...reply.prompt };
    const ids = { organizationId, threadId };
    const values = { ...reply, ...prompt, ...roomValues(reply), ...authorityValues(authority), ...ids };
    const [row] = await change<AddedRow>(addReply, values);
    if (row?.refused) return unauthorized;
    if (row?.at != null) return { outcome: 'added' };
    if (!(await read(() => isAuthorized(organizationId, authority)))) return unauthorized;
    if (row === undefined) {
      const thread = await read(() => findThread(organizationId, threadId));
      const isOthers = thread?.deletedAt === null && thread.userId !== userId;
      return isOthers ? { outcome: 'refused', thread } : { outcome: 'missing' };
    }
    if (row.running) return { outcome: 'running' };
    if (row.outdated) return { outcome: 'outdated' };
    if (row.exceeded !== null) return { outcome: 'full', exceeded: row.exceeded };
    // The thread was changed between the read and the lock.
    return add(organizationId, threadId, reply, authority);
  };

  return {
    addReply: add,

    async restoreThread(organizationId, threadId, withinMs, note) {
      const { authority } = note;
      const noted = { ...authorityValues(authority), ...noteValues(note) };
      const restored = await change(restore, { organizationId, threadId, withinMs, ...noted });
      if (restored.length === 1) return 'restored';
      return (await read(() => isAuthorized(organizationId, authority))) ? 'missing' : unauthorized;
    },

    async setThreadPublished(organizationId, threadId, published, note) {
      const { authority } = note;
      const noted = { ...authorityValues(authority), ...noteValues(note) };
      const changed = await change(publish, { organizationId, threadId, published, ...noted });
      if (changed.length === 1) return 'done';
      if (!(await read(() => isAuthorized(organizationId, authority)))) return unauthorized;
      const thread = await read(() => findThread(organizationId, threadId));
      return thread?.deletedAt === null ? 'done' : 'missing';
    },
  };
}
