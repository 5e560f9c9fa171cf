import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import type { NewThread, Threads } from '../store.ts';
import type { Database } from './database.ts';
import { adjustSizes } from './listing-sizes.ts';
import { isRunning } from './replies.ts';
import { now } from './store-time.ts';
import { type ThreadRow, threadColumns, toThread } from './thread-row.ts';

interface MessageRow {
  message_id: MessageId;
  content: string;
  message_created_at: number;
  status: MessageStatus | null;
  completed_at: number | null;
  steps: string | null;
  sources: string | null;
  model: string | null;
}

interface IdempotencyRow {
  body_hash: string;
  thread_id: ThreadId;
  message_id: MessageId;
  reply_id: MessageId;
  created_at: number;
}

const moveNoteKeptMs = 86_400_000;

/** The organization's next time: never before its last, and a tick after it where the clock is behind. */
const nextTime = `CASE WHEN ${now} >= latest_at THEN ${now} ELSE latest_at + 1 END`;

/**
 * Creates of one organization go one after the other, by its row's lock: sequence and time then grow in order of commit,
 * which walks rely on. `condition` says whether there is anything to create.
 */
function createText(condition: string, first = ''): string {
  return `WITH ${first}tick AS (
      UPDATE organization SET latest_at = ${nextTime}, thread_sequence = thread_sequence + 1
      WHERE id = $3 AND ${condition} RETURNING latest_at AS at, thread_sequence
    ), made AS (
      INSERT INTO thread (organization_id, id, sequence, user_id, title, account_id, secondary_id, created_at,
        activity_at, published)
      SELECT $3, $4, thread_sequence, $5, $6, $7, $8, at, at, false FROM tick
      RETURNING user_id, account_id, 1 AS threads, 0 AS published
    ), asked AS (
      INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
      SELECT $3, $4, $9, 'user', $10, at FROM tick
    ), reply AS (
      INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
        available_at, claim_token, attempts, deadline_at, trace_id)
      SELECT $3, $4, $11, 'assistant', '', at, 'in_progress', '[]', at, 0, 0, at + $12::bigint, $13 FROM tick
    ), sizes AS (${adjustSizes('$3', 'made')})
    SELECT at FROM tick`;
}

const create = { name: 'create-thread', text: createText('true') };
// Whoever sends the same key waits here for the first to commit, and then finds that there is nothing to do.
const createOnce = {
  name: 'create-thread-once',
  text: createText(
    'EXISTS (SELECT FROM fresh)',
    `fresh AS (
      INSERT INTO idempotency_key AS known (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id,
        created_at, expires_at)
      SELECT $3, $5, $14, $15, $4, $9, $11, at, at + $16::bigint FROM (SELECT ${now} AS at) AS moment
      ON CONFLICT (organization_id, user_id, key) DO UPDATE SET body_hash = excluded.body_hash,
        thread_id = excluded.thread_id, message_id = excluded.message_id, reply_id = excluded.reply_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE known.expires_at <= excluded.created_at RETURNING 1
    ), forgotten AS (
      DELETE FROM idempotency_key WHERE (organization_id, user_id, key) IN (
        SELECT organization_id, user_id, key FROM idempotency_key
        WHERE organization_id = $3 AND expires_at <= ${now} AND NOT (user_id = $5 AND key = $14)
        ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED)
    ), `,
  ),
};
const findIdempotencyKey = {
  name: 'find-idempotency-key',
  text: `SELECT body_hash, key.thread_id, key.message_id, reply_id, message.created_at FROM idempotency_key AS key
    JOIN message ON message.organization_id = key.organization_id AND message.thread_id = key.thread_id
      AND message.id = key.message_id
    WHERE key.organization_id = $1 AND key.user_id = $2 AND key.key = $3`,
};
const select = {
  name: 'find-thread',
  text: `SELECT ${threadColumns} FROM thread WHERE organization_id = $1 AND id = $2`,
};
const selectWithMessages = {
  name: 'get-thread',
  text: `SELECT ${threadColumns}, message.id AS message_id, content, message.created_at AS message_created_at, status,
      completed_at, steps, sources, model
    FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
    WHERE thread.organization_id = $1 AND thread.id = $2 ORDER BY message.id`,
};
/** The row as the latest commit left it, held until ours: a locked row is read anew. */
const ownThread = (
  gate: string,
) => `SELECT thread.*, ${gate}.* FROM ${gate} JOIN thread ON organization_id = $3
  AND thread.id = $4 AND user_id = $5 AND deleted_at IS NULL FOR UPDATE OF thread`;
const rename = {
  name: 'rename-thread',
  text: `WITH tick AS (
      UPDATE organization SET latest_at = greatest(${now}, latest_at + 1), move_sequence = move_sequence + 1
      WHERE id = $3 AND EXISTS (
        SELECT FROM thread WHERE organization_id = $3 AND id = $4 AND user_id = $5 AND deleted_at IS NULL)
      RETURNING latest_at AS tick_at, move_sequence AS tick_sequence
    ), left_behind AS (${ownThread('tick')}
    ), moved AS (
      INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
      SELECT $3, tick_sequence, $4, activity_at, tick_at FROM left_behind
    ), forgotten AS (
      DELETE FROM thread_move WHERE organization_id = $3 AND moved_at < ${now} - ${moveNoteKeptMs} AND sequence IN (
        SELECT sequence FROM thread_move WHERE organization_id = $3 ORDER BY sequence LIMIT 2)
    )
    UPDATE thread SET title = $6, updated_at = tick_at, activity_at = tick_at FROM left_behind
    WHERE thread.organization_id = $3 AND thread.id = $4 RETURNING ${threadColumns}`,
};
/** In the order in which creates and renames lock, too. */
const gate = 'gate AS (SELECT id AS gate_id FROM organization WHERE id = $3 FOR NO KEY UPDATE)';
const softDelete = {
  name: 'delete-thread',
  text: `WITH ${gate}, doomed AS (${ownThread('gate')}
    ), deleted AS (
      UPDATE thread SET deleted_at = greatest(${now}, doomed.activity_at) FROM doomed
      WHERE thread.organization_id = $3 AND thread.id = $4
      RETURNING thread.user_id, thread.account_id, -1 AS threads,
        CASE WHEN thread.published THEN -1 ELSE 0 END AS published
    ), cancelled AS (
      UPDATE message SET held = false, status = 'cancelled', completed_at = greatest(${now}, message.created_at)
      FROM doomed WHERE message.organization_id = $3 AND message.thread_id = $4 AND ${isRunning}
      RETURNING message.id
    ), sizes AS (${adjustSizes('$3', 'deleted')})
    SELECT (SELECT count(*) FROM deleted)::int AS deleted, ARRAY(SELECT id FROM cancelled) AS cancelled`,
};
const publish = {
  name: 'publish-thread',
  text: `WITH ${gate}, shown AS (
      SELECT thread.* FROM gate JOIN thread ON organization_id = $3 AND thread.id = $4 AND deleted_at IS NULL
        AND published <> $5 FOR UPDATE OF thread
    ), changed AS (
      UPDATE thread SET published = $5 FROM shown WHERE thread.organization_id = $3 AND thread.id = $4
      RETURNING thread.user_id, thread.account_id, 0 AS threads,
        CASE WHEN thread.published THEN 1 ELSE -1 END AS published
    ), sizes AS (${adjustSizes('$3', 'changed')})
    SELECT count(*)::int AS changed, max(coalesce($1::bigint, $2::bigint)) AS unused FROM changed`,
};

export function postgresThreads({ run, time }: Database): Omit<Threads, 'beginWalk' | 'continueWalk'> {
  const find = async (organizationId: OrganizationId, threadId: ThreadId) => {
    const [row] = await run<ThreadRow>(select, [organizationId, threadId]);
    return row && toThread(row);
  };

  async function createThreadOnce(
    organizationId: OrganizationId,
    thread: NewThread,
    { key, bodyHash, keepMs }: NonNullable<NewThread['idempotency']>,
  ): ReturnType<Threads['createThread']> {
    const values = [...parametersOf(organizationId, thread), key, bodyHash, keepMs];
    const [made] = await run<{ at: number }>(createOnce, [...time.parameters(), ...values]);
    if (made !== undefined) {
      time.see(made.at);
      return { outcome: 'created', createdAt: made.at };
    }
    const [seen] = await run<IdempotencyRow>(findIdempotencyKey, [organizationId, thread.userId, key]);
    if (seen === undefined) throw new Error(`There is no organization ${organizationId}.`);
    if (seen.body_hash !== bodyHash) return { outcome: 'key-reused' };
    const { thread_id: threadId, message_id: messageId, reply_id: replyId, created_at: createdAt } = seen;
    return { outcome: 'repeated', threadId, messageId, replyId, createdAt };
  }

  return {
    async createThread(organizationId, thread) {
      if (thread.idempotency) return createThreadOnce(organizationId, thread, thread.idempotency);
      const values = parametersOf(organizationId, thread);
      const [made] = await run<{ at: number }>(create, [...time.parameters(), ...values]);
      if (made === undefined) throw new Error(`There is no organization ${organizationId}.`);
      time.see(made.at);
      return { outcome: 'created', createdAt: made.at };
    },

    async getThread(organizationId, threadId) {
      const rows = await run<ThreadRow & MessageRow>(selectWithMessages, [organizationId, threadId]);
      const [first] = rows;
      return first && { thread: toThread(first), messages: rows.map(toMessage) };
    },

    async renameThread(organizationId, threadId, userId, title) {
      const values = [organizationId, threadId, userId, title];
      const [renamed] = await run<ThreadRow>(rename, [...time.parameters(), ...values]);
      if (renamed === undefined) {
        const thread = await find(organizationId, threadId);
        return thread ? { outcome: 'refused', thread } : { outcome: 'missing' };
      }
      time.see(renamed.updated_at!);
      return { outcome: 'renamed', thread: toThread(renamed) };
    },

    async deleteThread(organizationId, threadId, userId) {
      const values = [organizationId, threadId, userId];
      const [row] = await run<{ deleted: number; cancelled: MessageId[] }>(softDelete, [
        ...time.parameters(),
        ...values,
      ]);
      if (row!.deleted === 1) return { outcome: 'deleted', cancelled: row!.cancelled };
      const thread = await find(organizationId, threadId);
      return thread ? { outcome: 'refused', thread } : { outcome: 'missing' };
    },

    async setThreadPublished(organizationId, threadId, published) {
      const values = [organizationId, threadId, published];
      const [row] = await run<{ changed: number }>(publish, [...time.parameters(), ...values]);
      if (row!.changed === 1) return 'done';
      const thread = await find(organizationId, threadId);
      return thread !== undefined && thread.deletedAt === null ? 'done' : 'missing';
    },
  };
}

function parametersOf(organizationId: OrganizationId, thread: NewThread): unknown[] {
  const { id, userId, title, accountId, secondaryId, messageId, prompt, replyId } = thread;
  const { replyDeadlineMs, traceId } = thread;
  const texts = [userId, title, accountId, secondaryId, messageId, prompt, replyId];
  return [organizationId, id, ...texts, replyDeadlineMs, traceId];
}

function toMessage(row: ThreadRow & MessageRow): Message {
  const common = {
    id: row.message_id,
    threadId: row.id,
    content: row.content,
    createdAt: row.message_created_at,
  };
  if (row.status === null) return { ...common, role: 'user' };
  return {
    ...common,
    role: 'assistant',
    status: row.status,
    completedAt: row.completed_at,
    steps: row.steps === null ? [] : JSON.parse(row.steps),
    sources: row.sources === null ? null : JSON.parse(row.sources),
    model: row.model,
  };
}
