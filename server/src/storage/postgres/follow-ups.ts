import { isRetriable, isRunning, messageBytes } from '../sql/messages.ts';
import { empty, type Sql, sql, statement } from '../sql/sql.ts';
import { findThread } from '../sql/thread-reads.ts';
import type { Threads } from '../store.ts';
import type { Database } from './database.ts';
import {
  insertMove,
  insertReply,
  insertUserMessage,
  lockOwnThread,
  nextVersion,
  seenThread,
} from './thread-row.ts';

interface AddedRow {
  running: boolean;
  retriable: boolean;
  exceeded: 'messages' | 'bytes' | null;
  /** When the reply was added; null if it was not. */
  at: number | null;
}

/** What a follow-up has and a retry lacks: the prompt, which also moves the thread to the top of its listings. */
interface PromptParts {
  readonly messages: number;
  readonly bytes: Sql;
  readonly moves: number;
  readonly inserts: Sql;
  readonly change: Sql;
}

/**
 * The latest reply is read as of the start of the statement, which may then have waited for its lock: it counts only if
 * the locked thread still has the version that was seen.
 */
const addReplyIf = (allowed: Sql, { messages, bytes, moves, inserts, change }: PromptParts) => sql`
  WITH ${seenThread}, latest AS (
      SELECT coalesce(${isRunning}, false) AS running, coalesce(${isRetriable}, false) AS retriable
      FROM seen JOIN message
        ON organization_id = :organizationId AND thread_id = :threadId AND role = 'assistant'
      WHERE seen.user_id = :userId AND seen.deleted_at IS NULL
      ORDER BY message.created_at DESC, message.id DESC LIMIT 1
    ), size AS (
      SELECT CASE WHEN count(*) + 1 + ${messages} > :messagesMax::bigint THEN 'messages'
        WHEN sum(${messageBytes}) + ${bytes} > :bytesMax::bigint THEN 'bytes' END AS exceeded
      FROM latest JOIN message ON organization_id = :organizationId AND thread_id = :threadId
    ), tick AS (
      UPDATE organization SET latest_at = greatest(:now, latest_at + 1), move_sequence = move_sequence + ${moves}
      WHERE id = :organizationId AND EXISTS (SELECT FROM latest, size WHERE ${allowed} AND exceeded IS NULL)
      RETURNING latest_at AS tick_at, move_sequence AS tick_sequence
    ), held_thread AS (${lockOwnThread(sql`tick`)}
    ), same AS (
      SELECT held_thread.* FROM held_thread JOIN seen USING (version)
    ), ${inserts}reply AS (${insertReply(sql`same`, sql`tick_at`)}
    ), changed AS (
      UPDATE thread SET ${change}${nextVersion} FROM same
      WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    )
    SELECT running, retriable, exceeded, (SELECT tick_at FROM same) AS at FROM latest, size`;

const addFollowUp = statement('add-follow-up')`${addReplyIf(sql`NOT running`, {
  messages: 1,
  bytes: sql`octet_length(:prompt::text)`,
  moves: 1,
  inserts: sql`${insertMove(sql`same`)}, asked AS (${insertUserMessage(sql`same`, sql`tick_at`)}
    ), `,
  change: sql`updated_at = tick_at, activity_at = tick_at, `,
})}`;
const addRetry = statement('add-retry')`${addReplyIf(sql`retriable`, {
  messages: 0,
  bytes: sql`0`,
  moves: 0,
  inserts: empty,
  change: empty,
})}`;

export function postgresFollowUps({ run, read }: Database): Pick<Threads, 'addReply'> {
  const addReply: Threads['addReply'] = async (organizationId, threadId, userId, added) => {
    const { prompt, replyId, replyDeadlineMs, traceId, budget } = added;
    const values = { ...budget, organizationId, threadId, userId, replyId, replyDeadlineMs, traceId };
    const [row] = await (prompt === null
      ? run<AddedRow>(addRetry, values)
      : run<AddedRow>(addFollowUp, { ...values, messageId: prompt.messageId, prompt: prompt.content }));
    if (row === undefined) {
      const thread = await read(() => findThread(organizationId, threadId));
      const isOthers = thread !== undefined && thread.deletedAt === null && thread.userId !== userId;
      return isOthers ? { outcome: 'refused', thread } : { outcome: 'missing' };
    }
    if (row.at !== null) return { outcome: 'added' };
    if (row.running) return { outcome: 'running' };
    if (prompt === null && !row.retriable) return { outcome: 'nothing-to-retry' };
    if (row.exceeded !== null) return { outcome: 'full', exceeded: row.exceeded };
    // The thread was changed between the read and the lock.
    return addReply(organizationId, threadId, userId, added);
  };

  return { addReply };
}
