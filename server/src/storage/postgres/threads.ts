import type { MessageId, ThreadId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { inOrderOfCreation, type MessageRow, messageColumns, toMessage } from '../sql/messages.ts';
import { empty, type Sql, sql, statement } from '../sql/sql.ts';
import {
  isReadable,
  isRevoked,
  outcomeOfNoWrite,
  threadColumns,
  threadOf,
  threadReads,
} from '../sql/thread-reads.ts';
import type { Threads } from '../store.ts';
import type { Database } from './database.ts';
import { postgresFollowUps } from './follow-ups.ts';
import { adjustSizes, postgresThreadListing } from './thread-listing.ts';
import {
  granted,
  insertMove,
  insertReply,
  insertUserMessage,
  isApiOpen,
  lockOwnThread,
  nextVersion,
} from './thread-row.ts';

interface IdempotencyRow {
  bodyHash: string;
  threadId: ThreadId;
  messageId: MessageId;
  replyId: MessageId;
  createdAt: number;
}

/** The organization's next time: never before its last one, and one millisecond after it if the clock is behind. */
const nextTime = sql`CASE WHEN :now >= latest_at THEN :now ELSE latest_at + 1 END`;

const claimed = sql`:token::bigint IS NOT NULL, coalesce(:token::bigint, 0), at + coalesce(:leaseMs::bigint, 0)`;

/**
 * The lock of the organization's row serializes its creates, so that sequence and time grow in the order of commits, which
 * walks rely on. `moment` is the relation with the time; it has a row if there is anything to create.
 */
const insertThread = (moment: Sql, parts: Sql = empty) => sql`WITH tick AS (
      UPDATE organization SET latest_at = ${nextTime}, thread_sequence = thread_sequence + 1
      WHERE id = :organizationId AND ${isApiOpen} RETURNING id AS gate_id, latest_at AS at, thread_sequence
    ), ${granted(sql`tick`)}, ${parts}made AS (
      INSERT INTO thread (organization_id, id, sequence, user_id, title, account_id, secondary_id, created_at,
        activity_at, published, version)
      SELECT :organizationId, :threadId, thread_sequence, :userId, :title, :accountId, :secondaryId, at, at, false, at
      FROM ${moment}
      RETURNING user_id, account_id, 1 AS threads, 0 AS published
    ), asked AS (${insertUserMessage(moment, sql`at`)}
    ), reply AS (${insertReply(moment, sql`at`, claimed)}
    ), sizes AS (${adjustSizes(sql`made`)})
    SELECT at FROM ${moment}`;

const create = statement('create-thread')`${insertThread(sql`granted`)}`;
// The lock of the organization's row also serializes creates with the same key: the second finds nothing left to do.
const createOnce = statement('create-thread-once')`${insertThread(
  sql`due`,
  sql`fresh AS (
      INSERT INTO idempotency_key AS known (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id,
        created_at, expires_at)
      SELECT :organizationId, :userId, :key, :bodyHash, :threadId, :messageId, :replyId, at, at + :keepMs::bigint
      FROM granted
      ON CONFLICT (organization_id, user_id, key) DO UPDATE SET body_hash = excluded.body_hash,
        thread_id = excluded.thread_id, message_id = excluded.message_id, reply_id = excluded.reply_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE known.expires_at <= excluded.created_at RETURNING 1
    ), due AS (
      SELECT granted.* FROM granted, fresh
    ), `,
)}`;
const findIdempotencyKey = statement('find-idempotency-key')`
  SELECT body_hash AS "bodyHash", key.thread_id AS "threadId", key.message_id AS "messageId", reply_id AS "replyId",
    message.created_at AS "createdAt"
  FROM idempotency_key AS key
  JOIN message ON message.organization_id = key.organization_id AND message.thread_id = key.thread_id
    AND message.id = key.message_id
  WHERE key.organization_id = :organizationId AND key.user_id = :userId AND key.key = :key`;
const selectWithMessages = (condition: Sql) => sql`SELECT ${threadColumns}, version, ${messageColumns}
  FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND ${condition}
  ORDER BY ${inOrderOfCreation}`;
const get = statement('get-thread')`${selectWithMessages(sql`true`)}`;
const getReadable = statement('read-thread')`${selectWithMessages(isReadable)}`;
const rename = statement('rename-thread')`WITH tick AS (
    UPDATE organization SET latest_at = greatest(:now, latest_at + 1), move_sequence = move_sequence + 1
    WHERE id = :organizationId AND ${isApiOpen} AND EXISTS (
      SELECT FROM thread
      WHERE organization_id = :organizationId AND id = :threadId AND user_id = :userId AND deleted_at IS NULL)
    RETURNING id AS gate_id, latest_at AS tick_at, move_sequence AS tick_sequence
  ), ${granted(sql`tick`)}, left_behind AS (${lockOwnThread(sql`granted`)}
  ), ${insertMove(sql`left_behind`)}
  UPDATE thread SET title = :title, updated_at = tick_at, activity_at = tick_at, ${nextVersion} FROM left_behind
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId RETURNING ${threadColumns}`;

export function postgresThreads(database: Database): Omit<Threads, 'beginWalk' | 'continueWalk'> {
  const { run, read, time } = database;
  return {
    async createThread(organizationId, thread) {
      const { id: threadId, idempotency, claim } = thread;
      const { token = null, leaseMs = null } = claim ?? {};
      const values = { ...thread, ...idempotency, token, leaseMs, organizationId, threadId };
      const [made] = await run<{ at: number }>(idempotency ? createOnce : create, values);
      if (made !== undefined) return { outcome: 'created', createdAt: made.at };
      if (await read(() => isRevoked(organizationId, thread))) return { outcome: 'revoked' };
      const [first] = idempotency ? await run<IdempotencyRow>(findIdempotencyKey, values) : [];
      if (first === undefined) throw new Error(`The organization ${organizationId} does not exist.`);
      const { bodyHash, ...created } = first;
      return bodyHash === idempotency?.bodyHash
        ? { outcome: 'repeated', ...created }
        : { outcome: 'key-reused' };
    },

    async getThread(organizationId, threadId, reader) {
      type Row = Thread & MessageRow & { version: number };
      const rows = await (reader === undefined
        ? run<Row>(get, { organizationId, threadId })
        : run<Row>(getReadable, { organizationId, threadId, userId: reader.userId }));
      const [first] = rows;
      if (first === undefined) return undefined;
      const messages = rows.map((row) => toMessage(threadId, row));
      return { thread: threadOf(first), version: first.version, messages };
    },

    async renameThread(organizationId, threadId, writer, title) {
      const [renamed] = await run<Thread>(rename, { ...writer, organizationId, threadId, title });
      if (renamed === undefined) return read(() => outcomeOfNoWrite(organizationId, threadId, writer));
      time.see(renamed.updatedAt!);
      return { outcome: 'renamed', thread: renamed };
    },

    ...threadReads(database),
    ...postgresThreadListing(database),
    ...postgresFollowUps(database),
  };
}
