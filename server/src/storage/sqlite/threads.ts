import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import type { NewThread, Threads } from '../store.ts';
import type { CommitClock, CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { prepareAdjustSizes } from './listing-sizes.ts';
import { prepareCancelReplies } from './replies.ts';
import { type ThreadRow, threadColumnCount, threadColumns, toThread } from './thread-row.ts';

type MessageRow = [
  id: MessageId,
  content: string,
  createdAt: number,
  status: MessageStatus | null,
  completedAt: number | null,
  steps: string | null,
  sources: string | null,
  model: string | null,
];

interface IdempotencyRow {
  body_hash: string;
  thread_id: ThreadId;
  message_id: MessageId;
  reply_id: MessageId;
  created_at: number;
}

const moveNoteKeptMs = 86_400_000;

export function sqliteThreads(
  database: Database,
  commits: CommitQueue,
): Omit<Threads, 'beginWalk' | 'continueWalk'> {
  const adjustSizes = prepareAdjustSizes(database);
  const insertThread = database.prepare(
    `INSERT INTO thread (organization_id, id, user_id, title, account_id, secondary_id, created_at, activity_at,
       published, deleted)
     VALUES (@organizationId, @id, @userId, @title, @accountId, @secondaryId, @now, @now, 0, 0)`,
  );
  const insertUserMessage = database.prepare(
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
     VALUES (?, ?, ?, 'user', ?, ?)`,
  );
  const insertReply = database.prepare(
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
       available_at, claim_token, attempts, deadline_at, trace_id)
     VALUES (?, ?, ?, 'assistant', '', ?, 'in_progress', '[]', ?, 0, 0, ?, ?)`,
  );
  const findIdempotencyKey = database.prepare<[string, string, string, number], IdempotencyRow>(
    `SELECT body_hash, thread_id, message_id, reply_id, created_at FROM idempotency_key
     WHERE organization_id = ? AND user_id = ? AND key = ? AND expires_at > ?`,
  );
  // At most two, as for moves below.
  const forgetExpiredKeys = database.prepare<[string, number]>(
    `DELETE FROM idempotency_key WHERE (organization_id, user_id, key) IN (
       SELECT organization_id, user_id, key FROM idempotency_key
       WHERE organization_id = ? AND expires_at <= ? ORDER BY expires_at LIMIT 2)`,
  );
  const insertIdempotencyKey = database.prepare(
    `INSERT OR REPLACE INTO idempotency_key
       (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectThread = database
    .prepare<[string, string], ThreadRow>(
      `SELECT ${threadColumns} FROM thread WHERE organization_id = ? AND id = ?`,
    )
    .raw();
  // One statement, so that thread and messages are of one moment even beside another process.
  const selectThreadWithMessages = database
    .prepare<[string, string], [...ThreadRow, ...MessageRow]>(
      `SELECT ${threadColumns}, message.id, content, message.created_at, status, completed_at, steps, sources, model
       FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
       WHERE thread.organization_id = ? AND thread.id = ? ORDER BY message.id`,
    )
    .raw();
  const rename = database
    .prepare<[string, number, number, string, string, string], ThreadRow>(
      `UPDATE thread SET title = ?, updated_at = ?, activity_at = ?
     WHERE organization_id = ? AND id = ? AND user_id = ? AND deleted = 0 RETURNING ${threadColumns}`,
    )
    .raw();
  const noteMove = database.prepare<[string, string, number, number]>(
    `INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
     VALUES (?, coalesce((SELECT max(sequence) FROM thread_move), 0) + 1, ?, ?, ?)`,
  );
  // At most two of the oldest: the notes stay few without a sweep, and a rename never pays for many.
  const forgetOldMoves = database.prepare<[number]>(
    `DELETE FROM thread_move WHERE (organization_id, sequence) IN (
       SELECT organization_id, sequence FROM thread_move ORDER BY sequence LIMIT 2) AND moved_at < ?`,
  );
  const softDelete = database
    .prepare<[number, string, string, string], ThreadRow>(
      `UPDATE thread SET deleted_at = ?, deleted = 1
     WHERE organization_id = ? AND id = ? AND user_id = ? AND deleted = 0 RETURNING ${threadColumns}`,
    )
    .raw();
  const cancelReplies = prepareCancelReplies(database);
  const publish = database
    .prepare<[number, string, string, number], ThreadRow>(
      `UPDATE thread SET published = ?
     WHERE organization_id = ? AND id = ? AND deleted = 0 AND published <> ? RETURNING ${threadColumns}`,
    )
    .raw();

  function insertAll(organizationId: OrganizationId, thread: NewThread, now: number): void {
    const { id, userId, title, accountId, secondaryId, prompt, messageId, replyId, traceId } = thread;
    insertThread.run({ organizationId, id, userId, title, accountId, secondaryId, now });
    insertUserMessage.run(organizationId, id, messageId, prompt, now);
    insertReply.run(organizationId, id, replyId, now, now, now + thread.replyDeadlineMs, traceId);
    adjustSizes({ organizationId, userId, accountId }, { threads: 1, published: 0 });
  }

  function createOnce(
    organizationId: OrganizationId,
    thread: NewThread,
    { key, bodyHash, keepMs }: NonNullable<NewThread['idempotency']>,
    now: number,
  ): Awaited<ReturnType<Threads['createThread']>> {
    const seen = findIdempotencyKey.get(organizationId, thread.userId, key, now);
    if (seen !== undefined) {
      if (seen.body_hash !== bodyHash) return { outcome: 'key-reused' };
      const { thread_id: threadId, message_id: messageId, reply_id: replyId, created_at: createdAt } = seen;
      return { outcome: 'repeated', threadId, messageId, replyId, createdAt };
    }
    forgetExpiredKeys.run(organizationId, now);
    insertAll(organizationId, thread, now);
    const { id, userId, messageId, replyId } = thread;
    insertIdempotencyKey.run(
      organizationId,
      userId,
      key,
      bodyHash,
      id,
      messageId,
      replyId,
      now,
      now + keepMs,
    );
    return { outcome: 'created', createdAt: now };
  }

  function renameNow(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
    title: string,
    clock: CommitClock,
  ): Awaited<ReturnType<Threads['renameThread']>> {
    const before = selectThread.get(organizationId, threadId);
    if (before === undefined) return { outcome: 'missing' };
    const after = clock.after();
    const renamed = rename.get(title, after, after, organizationId, threadId, userId);
    if (renamed === undefined) return { outcome: 'refused', thread: toThread(before) };
    const left = toThread(before);
    noteMove.run(organizationId, threadId, left.updatedAt ?? left.createdAt, after);
    forgetOldMoves.run(after - moveNoteKeptMs);
    return { outcome: 'renamed', thread: toThread(renamed) };
  }

  return {
    createThread: (organizationId, thread) =>
      commits.durable((clock) => {
        if (thread.idempotency) return createOnce(organizationId, thread, thread.idempotency, clock.now());
        insertAll(organizationId, thread, clock.now());
        return { outcome: 'created', createdAt: clock.now() };
      }),

    async getThread(organizationId, threadId) {
      const rows = selectThreadWithMessages.all(organizationId, threadId);
      const first = rows[0];
      return first && { thread: toThread(first), messages: rows.map(toMessage) };
    },

    renameThread: (organizationId, threadId, userId, title) =>
      commits.durable((clock) => renameNow(organizationId, threadId, userId, title, clock)),

    deleteThread: (organizationId, threadId, userId) =>
      commits.durable((clock) => {
        const deleted = softDelete.get(clock.now(), organizationId, threadId, userId);
        if (deleted === undefined) {
          const kept = selectThread.get(organizationId, threadId);
          return kept ? { outcome: 'refused', thread: toThread(kept) } : { outcome: 'missing' };
        }
        const cancelled = cancelReplies(organizationId, threadId, clock.now());
        const thread = toThread(deleted);
        adjustSizes(thread, { threads: -1, published: thread.published ? -1 : 0 });
        return { outcome: 'deleted', cancelled };
      }),

    setThreadPublished: (organizationId, threadId, published) =>
      commits.durable(() => {
        const changed = publish.get(Number(published), organizationId, threadId, Number(published));
        if (changed !== undefined) {
          adjustSizes(toThread(changed), { threads: 0, published: published ? 1 : -1 });
          return 'done';
        }
        const unchanged = selectThread.get(organizationId, threadId);
        return unchanged !== undefined && toThread(unchanged).deletedAt === null ? 'done' : 'missing';
      }),
  };
}

function toMessage(row: [...ThreadRow, ...MessageRow]): Message {
  const [id, content, createdAt, status, completedAt, steps, sources, model] = row.slice(
    threadColumnCount,
  ) as MessageRow;
  const threadId = row[1];
  if (status === null) return { id, threadId, role: 'user', content, createdAt };
  return {
    id,
    threadId,
    role: 'assistant',
    content,
    createdAt,
    status,
    completedAt,
    steps: steps === null ? [] : JSON.parse(steps),
    sources: sources === null ? null : JSON.parse(sources),
    model,
  };
}
