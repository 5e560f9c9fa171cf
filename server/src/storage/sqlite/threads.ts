import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { AssistantMessage } from '../../domain/message.ts';
import { canBeReadBy } from '../../domain/principal.ts';
import { inOrderOfCreation, messageBytes, messageColumns } from '../sql/messages.ts';
import { findThread, isRevoked, threadColumns, threadReads } from '../sql/thread-reads.ts';
import type { NewThread, Reader, Threads, WholeThread, Writer } from '../store.ts';
import type { CommitClock, CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { sqliteFollowUps } from './follow-ups.ts';
import type { ObjectCache } from './object-cache.ts';
import { prepareAdjustSizes, sqliteThreadListing } from './thread-listing.ts';
import {
  type MessageRow,
  prepareInsertMessages,
  prepareNoteMove,
  prepareRaiseVersion,
  type ThreadRow,
  threadColumnCount,
  toMessage,
  toThread,
} from './thread-row.ts';
import { sqliteTransactions, workRunner } from './transactions.ts';

interface Repeated {
  bodyHash: string;
  threadId: ThreadId;
  messageId: MessageId;
  replyId: MessageId;
  createdAt: number;
}

type WholeThreadRow = [...ThreadRow, version: number, ...MessageRow];

export function sqliteThreads(
  database: Database,
  commits: CommitQueue,
  cache: ObjectCache,
): Omit<Threads, 'beginWalk' | 'continueWalk'> {
  const adjustSizes = prepareAdjustSizes(database);
  const insertMessages = prepareInsertMessages(database);
  const noteMove = prepareNoteMove(database);
  const raiseVersion = prepareRaiseVersion(database);
  const runWork = workRunner(database);
  const reads = threadReads(sqliteTransactions(database, commits));
  const insertThread = database.prepare(
    `INSERT INTO thread (organization_id, id, user_id, title, account_id, secondary_id, created_at, activity_at,
       published, deleted, version)
     VALUES (@organizationId, @id, @userId, @title, @accountId, @secondaryId, @now, @now, 0, 0, @now)`,
  );
  const findIdempotencyKey = database.prepare<[object], Repeated>(
    `SELECT body_hash AS bodyHash, thread_id AS threadId, message_id AS messageId, reply_id AS replyId,
       created_at AS createdAt
     FROM idempotency_key
     WHERE organization_id = @organizationId AND user_id = @userId AND key = @key AND expires_at > @now`,
  );
  const insertIdempotencyKey = database.prepare(
    `INSERT OR REPLACE INTO idempotency_key
       (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id, created_at, expires_at)
     VALUES (@organizationId, @userId, @key, @bodyHash, @id, @messageId, @replyId, @now, @now + @keepMs)`,
  );
  /**
   * One statement, so that the thread and its messages are consistent even if another process writes. CROSS JOIN makes
   * SQLite check the thread first: if it does not meet the condition, no message is read.
   */
  const selectWithMessages = (condition: string) =>
    database
      .prepare<[object], WholeThreadRow>(
        `SELECT ${threadColumns}, version, ${messageColumns}
         FROM thread CROSS JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
         WHERE thread.organization_id = @organizationId AND thread.id = @threadId AND ${condition}
         ORDER BY ${inOrderOfCreation}`,
      )
      .raw();
  /** Depends on the row of the thread, so that no message of a thread that fails another condition is read. */
  const isSmall = `(SELECT sum(${messageBytes}) FROM message AS sized
    WHERE sized.organization_id = thread.organization_id AND sized.thread_id = thread.id) <= @bytesMax`;
  const getAny = selectWithMessages('true');
  const getReadable = selectWithMessages(
    `deleted = 0 AND (published = 1 OR user_id = @userId) AND ${isSmall}`,
  );
  const rename = database
    .prepare<[object], ThreadRow>(
      `UPDATE thread SET title = @title, updated_at = @at, activity_at = @at
       WHERE organization_id = @organizationId AND id = @threadId AND user_id = @userId AND deleted = 0
       RETURNING ${threadColumns}`,
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
    const { id, userId, messageId, replyId } = thread;
    const known = findIdempotencyKey.get({ organizationId, userId, key, now });
    if (known !== undefined) {
      const { bodyHash: knownHash, ...first } = known;
      return knownHash === bodyHash ? { outcome: 'repeated', ...first } : { outcome: 'key-reused' };
    }
    insertAll(organizationId, thread, now);
    insertIdempotencyKey.run({ organizationId, userId, key, bodyHash, id, messageId, replyId, now, keepMs });
    return { outcome: 'created', createdAt: now };
  }

  function renameNow(
    organizationId: OrganizationId,
    threadId: ThreadId,
    { userId, keyHash }: Writer,
    title: string,
    clock: CommitClock,
  ): Awaited<ReturnType<Threads['renameThread']>> {
    if (runWork(isRevoked(organizationId, { userId, keyHash }), clock.now())) return { outcome: 'revoked' };
    const before = runWork(findThread(organizationId, threadId));
    if (before === undefined) return { outcome: 'missing' };
    const at = clock.after();
    const renamed = rename.get({ organizationId, threadId, userId, title, at });
    if (renamed === undefined) return { outcome: 'refused', thread: before };
    noteMove(organizationId, threadId, { leftActivityAt: before.updatedAt ?? before.createdAt, movedAt: at });
    raiseVersion(organizationId, threadId, at);
    return { outcome: 'renamed', thread: toThread(renamed) };
  }

  /** A thread that the reader may not read is looked up, so that it takes as long as one that does not exist. */
  function findKept(
    organizationId: OrganizationId,
    threadId: ThreadId,
    reader?: Reader,
  ): WholeThread | undefined {
    const kept = cache.get<WholeThread>(threadId);
    if (kept?.thread.organizationId !== organizationId) return undefined;
    return reader === undefined || canBeReadBy(kept.thread, reader.userId) ? kept : undefined;
  }

  return {
    ...reads,

    createThread: (organizationId, thread) =>
      commits.durable((clock) => {
        const now = clock.now();
        if (runWork(isRevoked(organizationId, thread), now)) return { outcome: 'revoked' };
        if (thread.idempotency) return createOnce(organizationId, thread, thread.idempotency, now);
        insertAll(organizationId, thread, now);
        return { outcome: 'created', createdAt: now };
      }),

    async getThread(organizationId, threadId, reader) {
      const kept = findKept(organizationId, threadId, reader);
      if (kept !== undefined) return kept;
      const rows =
        reader === undefined
          ? getAny.all({ organizationId, threadId })
          : getReadable.all({ bytesMax: Number.MAX_SAFE_INTEGER, ...reader, organizationId, threadId });
      const found = toWholeThread(threadId, rows);
      // Workers read threads of any size. What is kept is also returned to readers, who ask for small ones.
      return found && reader !== undefined ? cache.keep(threadId, found, memoryOf(rows)) : found;
    },

    threadVersion: async (organizationId, threadId, reader) =>
      findKept(organizationId, threadId, reader)?.version ??
      reads.threadVersion(organizationId, threadId, reader),

    async getThreadHead(organizationId, threadId) {
      const kept = findKept(organizationId, threadId);
      if (kept === undefined) return reads.getThreadHead(organizationId, threadId);
      const { thread, version, messages } = kept;
      const latest = messages.findLast(({ role }) => role === 'assistant') as AssistantMessage;
      return { thread, version, messageCount: messages.length, latest };
    },

    renameThread: (organizationId, threadId, writer, title) =>
      commits.durable((clock) => renameNow(organizationId, threadId, writer, title, clock)),

    ...sqliteThreadListing(database, commits),
    ...sqliteFollowUps(database, commits),
  };
}

function toWholeThread(threadId: ThreadId, rows: readonly WholeThreadRow[]): WholeThread | undefined {
  const first = rows[0];
  if (first === undefined) return undefined;
  return {
    thread: toThread(first),
    version: first[threadColumnCount],
    messages: rows.map((row) => toMessage(threadId, row.slice(threadColumnCount + 1) as MessageRow)),
  };
}

/** Bytes that the objects take without long texts. A thread with one prompt and its reply takes 3 kB. */
const threadMemory = 2048;
const messageMemory = 512;

/** The memory of a thread and of its JSON, in bytes: two per character of each at most. */
function memoryOf(rows: readonly WholeThreadRow[]): number {
  const columns = JSON.stringify(rows[0]?.slice(0, threadColumnCount)).length;
  return rows.reduce((bytes, row) => bytes + messageMemory + 2 * textLength(row), threadMemory + 4 * columns);
}

/** JSON can be six times as long as its text. */
function textLength(row: WholeThreadRow): number {
  const [, content, , , , steps, sources] = row.slice(threadColumnCount + 1) as MessageRow;
  const stored = 2 * ((steps?.length ?? 0) + (sources?.length ?? 0));
  return content.length + JSON.stringify(content).length + stored;
}
