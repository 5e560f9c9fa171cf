import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import { isRunning } from '../reply-rules.ts';
import type { NewThread, Threads, Writer } from '../store.ts';
import type { CommitClock, CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { sqliteFollowUps } from './follow-ups.ts';
import { prepareAdjustSizes, prepareListAccounts } from './listing-sizes.ts';
import {
  inOrderOfCreation,
  type MessageRow,
  messageColumns,
  prepareInsertMessages,
  toMessage,
} from './messages.ts';
import { sqliteThreadListing } from './thread-listing.ts';
import { sqliteThreadParts } from './thread-parts.ts';
import {
  prepareFindThread,
  prepareNoteMove,
  prepareRaiseVersion,
  type ThreadRow,
  threadColumnCount,
  threadColumns,
  toThread,
} from './thread-row.ts';
import { prepareMayWrite } from './write-grant.ts';

interface IdempotencyRow {
  body_hash: string;
  thread_id: ThreadId;
  message_id: MessageId;
  reply_id: MessageId;
  created_at: number;
}

const isReadable = 'deleted = 0 AND (published = 1 OR user_id = ?)';

/** CROSS JOIN makes SQLite check the thread first: if it does not meet the condition, no message is read. */
function withMessages(condition: string): string {
  return `SELECT ${threadColumns}, version, ${messageColumns}
    FROM thread CROSS JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
    WHERE thread.organization_id = ? AND thread.id = ? AND ${condition} ORDER BY ${inOrderOfCreation}`;
}

export function sqliteThreads(
  database: Database,
  commits: CommitQueue,
): Omit<Threads, 'beginWalk' | 'continueWalk'> {
  const adjustSizes = prepareAdjustSizes(database);
  const insertMessages = prepareInsertMessages(database);
  const findThread = prepareFindThread(database);
  const noteMove = prepareNoteMove(database);
  const listAccounts = prepareListAccounts(database);
  const insertThread = database.prepare(
    `INSERT INTO thread (organization_id, id, user_id, title, account_id, secondary_id, created_at, activity_at,
       published, deleted, version)
     VALUES (@organizationId, @id, @userId, @title, @accountId, @secondaryId, @now, @now, 0, 0, @now)`,
  );
  const findIdempotencyKey = database.prepare<[string, string, string, number], IdempotencyRow>(
    `SELECT body_hash, thread_id, message_id, reply_id, created_at FROM idempotency_key
     WHERE organization_id = ? AND user_id = ? AND key = ? AND expires_at > ?`,
  );
  const insertIdempotencyKey = database.prepare(
    `INSERT OR REPLACE INTO idempotency_key
       (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // One statement, so that the thread and its messages are consistent even if another process writes.
  const selectThreadWithMessages = database
    .prepare<[string, string], [...ThreadRow, version: number, ...MessageRow]>(withMessages('true'))
    .raw();
  const selectReadableWithMessages = database
    .prepare<[string, string, string | null], [...ThreadRow, version: number, ...MessageRow]>(
      withMessages(isReadable),
    )
    .raw();
  const selectVersion = database
    .prepare<[string, string, string | null], number>(
      `SELECT version FROM thread WHERE organization_id = ? AND id = ? AND ${isReadable}`,
    )
    .pluck();
  const selectRunning = database
    .prepare<[string, string, string | null], MessageId | null>(
      `SELECT (SELECT message.id FROM message INDEXED BY message_running
         WHERE message.organization_id = thread.organization_id AND thread_id = thread.id AND ${isRunning} LIMIT 1)
       FROM thread WHERE organization_id = ? AND id = ? AND ${isReadable}`,
    )
    .pluck();
  const raiseVersion = prepareRaiseVersion(database);
  const mayWrite = prepareMayWrite(database);
  const rename = database
    .prepare<[string, number, number, string, string, string], ThreadRow>(
      `UPDATE thread SET title = ?, updated_at = ?, activity_at = ?
       WHERE organization_id = ? AND id = ? AND user_id = ? AND deleted = 0 RETURNING ${threadColumns}`,
    )
    .raw();

  function insertAll(organizationId: OrganizationId, thread: NewThread, now: number): void {
    const { id, userId, title, accountId, secondaryId, prompt, messageId } = thread;
    insertThread.run({ organizationId, id, userId, title, accountId, secondaryId, now });
    insertMessages(organizationId, id, { ...thread, prompt: { messageId, content: prompt } }, now);
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
    writer: Writer,
    title: string,
    clock: CommitClock,
  ): Awaited<ReturnType<Threads['renameThread']>> {
    if (!mayWrite(organizationId, writer, clock.now())) return { outcome: 'revoked' };
    const before = findThread(organizationId, threadId);
    if (before === undefined) return { outcome: 'missing' };
    const after = clock.after();
    const renamed = rename.get(title, after, after, organizationId, threadId, writer.userId);
    if (renamed === undefined) return { outcome: 'refused', thread: before };
    const leftActivityAt = before.updatedAt ?? before.createdAt;
    noteMove(organizationId, threadId, { leftActivityAt, movedAt: after });
    raiseVersion(organizationId, threadId, after);
    return { outcome: 'renamed', thread: toThread(renamed) };
  }

  return {
    createThread: (organizationId, thread) =>
      commits.durable((clock) => {
        if (!mayWrite(organizationId, thread, clock.now())) return { outcome: 'revoked' };
        if (thread.idempotency) return createOnce(organizationId, thread, thread.idempotency, clock.now());
        insertAll(organizationId, thread, clock.now());
        return { outcome: 'created', createdAt: clock.now() };
      }),

    async getThread(organizationId, threadId, reader) {
      const rows =
        reader === undefined
          ? selectThreadWithMessages.all(organizationId, threadId)
          : selectReadableWithMessages.all(organizationId, threadId, reader.userId);
      const first = rows[0];
      return (
        first && {
          thread: toThread(first),
          version: first[threadColumnCount],
          messages: rows.map((row) => toMessage(threadId, row.slice(threadColumnCount + 1) as MessageRow)),
        }
      );
    },

    threadVersion: async (organizationId, threadId, { userId }) =>
      selectVersion.get(organizationId, threadId, userId),

    findRunningReply: async (organizationId, threadId, { userId }) =>
      selectRunning.get(organizationId, threadId, userId),

    renameThread: (organizationId, threadId, writer, title) =>
      commits.durable((clock) => renameNow(organizationId, threadId, writer, title, clock)),

    ...sqliteThreadParts(database),
    ...sqliteThreadListing(database, commits),
    ...sqliteFollowUps(database, commits),
    listAccounts,
  };
}
