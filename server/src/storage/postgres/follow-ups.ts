import { isRunning, messageBytes } from '../sql/messages.ts';
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
  outdated: boolean;
  exceeded: 'messages' | 'bytes' | null;
  /** When the reply was added; null if it was not. */
  at: number | null;
}

/** What a prompt has and another reply to the last one lacks: the prompt, which also moves the thread to the top of its listings. */
interface PromptParts {
  readonly messages: number;
  readonly outdated: Sql;
  /** Whether the latest reply is an earlier version from now on. */
  readonly supersedes: Sql;
  readonly bytes: Sql;
  readonly moves: number;
  readonly inserts: Sql;
  readonly change: Sql;
}

/**
 * The latest reply is read as of the start of the statement, which may then have waited for its lock: it counts only if
 * the locked thread still has the version that was seen.
 */
const addReply = ({ messages, outdated, supersedes, bytes, moves, inserts, change }: PromptParts) => sql`
  WITH ${seenThread}, latest AS (
      SELECT id, coalesce(${isRunning}, false) AS running, ${outdated} AS outdated
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
      WHERE id = :organizationId AND EXISTS (SELECT FROM latest, size WHERE NOT running AND NOT outdated AND exceeded IS NULL)
      RETURNING latest_at AS tick_at, move_sequence AS tick_sequence
    ), held_thread AS (${lockOwnThread(sql`tick`)}
    ), same AS (
      SELECT held_thread.* FROM held_thread JOIN seen USING (version)
    ), ${inserts}reply AS (${insertReply(sql`same`, sql`tick_at`)}
    ), superseded AS (
      UPDATE message SET unanswered_at = NULL FROM same, latest
      WHERE message.organization_id = :organizationId AND message.thread_id = :threadId AND message.id = latest.id
        AND ${supersedes} AND unanswered_at IS NOT NULL
    ), changed AS (
      UPDATE thread SET ${change}${nextVersion} FROM same
      WHERE thread.organization_id = :organizationId AND thread.id = :threadId
    )
    SELECT running, outdated, exceeded, (SELECT tick_at FROM same) AS at FROM latest, size`;

const addPrompt = statement('add-prompt')`${addReply({
  messages: 1,
  outdated: sql`(:replaces::text IS NOT NULL AND :replaces <> (
        SELECT asked.id FROM message AS asked
        WHERE asked.organization_id = :organizationId AND asked.thread_id = :threadId AND asked.role = 'user'
        ORDER BY asked.created_at DESC, asked.id DESC LIMIT 1))`,
  supersedes: sql`:replaces IS NOT NULL`,
  bytes: sql`octet_length(:prompt::text)`,
  moves: 1,
  inserts: sql`${insertMove(sql`same`)}, asked AS (${insertUserMessage(sql`same`, sql`tick_at`)}
    ), `,
  change: sql`updated_at = tick_at, activity_at = tick_at, `,
})}`;
const addAnother = statement('add-another-reply')`${addReply({
  messages: 0,
  outdated: sql`false`,
  supersedes: sql`true`,
  bytes: sql`0`,
  moves: 0,
  inserts: empty,
  change: empty,
})}`;

export function postgresFollowUps({ run, read }: Database): Pick<Threads, 'addReply'> {
  const add: Threads['addReply'] = async (organizationId, threadId, userId, added) => {
    const { prompt, replyId, replyDeadlineMs, traceId, budget } = added;
    const values = { ...budget, organizationId, threadId, userId, replyId, replyDeadlineMs, traceId };
    const [row] = await (prompt === null
      ? run<AddedRow>(addAnother, values)
      : run<AddedRow>(addPrompt, { ...values, replaces: null, ...prompt, prompt: prompt.content }));
    if (row === undefined) {
      const thread = await read(() => findThread(organizationId, threadId));
      const isOthers = thread !== undefined && thread.deletedAt === null && thread.userId !== userId;
      return isOthers ? { outcome: 'refused', thread } : { outcome: 'missing' };
    }
    if (row.at !== null) return { outcome: 'added' };
    if (row.running) return { outcome: 'running' };
    if (row.outdated) return { outcome: 'outdated' };
    if (row.exceeded !== null) return { outcome: 'full', exceeded: row.exceeded };
    // The thread was changed between the read and the lock.
    return add(organizationId, threadId, userId, added);
  };

  return { addReply: add };
}
