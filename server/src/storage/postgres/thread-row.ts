import { keyIsLive } from '../sql/api-keys.ts';
import { type Sql, sql } from '../sql/sql.ts';

/**
 * For the SET clause of every UPDATE of a thread: a number that no earlier change had. It is the time unless the clock is
 * behind, so that a version lost to a power cut or to a restored backup is not used again.
 */
export const nextVersion = sql`version = greatest(thread.version + 1, :now)`;

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

/** `moment` has one row or none, and `at` is its column with the time. */
export const insertUserMessage = (moment: Sql, at: Sql) => sql`
      INSERT INTO message (organization_id, thread_id, id, role, content, created_at, replaces)
      SELECT :organizationId, :threadId, :messageId, 'user', :prompt, ${at}, :replaces::text FROM ${moment}`;

export const insertReply = (moment: Sql, at: Sql) => sql`
      INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
        held, claim_token, available_at, attempts, deadline_at, trace_id)
      SELECT :organizationId, :threadId, :replyId, 'assistant', '', ${at}, 'in_progress', '[]', false, 0, ${at}, 0,
        ${at} + :replyDeadlineMs::bigint, :traceId FROM ${moment}`;

/**
 * The same condition, but the planner cannot use it to choose an index. Without statistics it takes conditions such as
 * `deleted_at IS NULL` for more selective than an id, and would read all rows of an organization.
 */
export const opaque = (condition: Sql) => sql`CASE WHEN ${condition} THEN true END`;

/** A condition on a thread that a join finds by its id. */
export const isOwnThread = (call: Sql) =>
  opaque(sql`deleted_at IS NULL AND thread.user_id = ${call}.user_id`);

/**
 * A condition on a call (`asked`) and its organization's row, which `gate` has locked: a write with an API key needs the API
 * enabled and the key live. The key is read after the wait for the row and locked until the commit, so that a revocation
 * committed in the meantime counts. Only one batch of an organization holds the row at a time.
 */
export const isGranted = (gate: Sql) => sql`(asked.key_hash IS NULL OR ${gate}.api_enabled AND EXISTS (
        SELECT FROM api_key WHERE hash = asked.key_hash AND organization_id = ${gate}.gate_id
          AND user_id = asked.user_id AND ${keyIsLive} FOR SHARE))`;
