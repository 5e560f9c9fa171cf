import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { NewThread, Threads } from '../store.ts';
import type { Database } from './database.ts';
import { postgresFollowUps } from './follow-ups.ts';
import { adjustSizes, listAccounts } from './listing-sizes.ts';
import {
  inOrderOfCreation,
  insertReply,
  insertUserMessage,
  type MessageRow,
  messageColumns,
  toMessage,
} from './messages.ts';
import { isRunning } from './replies.ts';
import { now } from './store-time.ts';
import { postgresThreadListing } from './thread-listing.ts';
import { noteMove } from './thread-moves.ts';
import { findThread, nextVersion, ownThread, type ThreadRow, threadColumns, toThread } from './thread-row.ts';
import { apiOpen, grantedText, isRevoked } from './write-grant.ts';

interface IdempotencyRow {
  body_hash: string;
  thread_id: ThreadId;
  message_id: MessageId;
  reply_id: MessageId;
  created_at: number;
}

/** The organization's next time: never before its last, and a tick after it where the clock is behind. */
const nextTime = `CASE WHEN ${now} >= latest_at THEN ${now} ELSE latest_at + 1 END`;

/**
 * Creates of one organization go one after the other, by its row's lock: sequence and time then grow in order of commit,
 * which walks rely on. `moment` is the relation with the time, of one row if there is anything to create.
 */
function createText(moment: string, parts = ''): string {
  return `WITH tick AS (
      UPDATE organization SET latest_at = ${nextTime}, thread_sequence = thread_sequence + 1
      WHERE id = $3 AND ${apiOpen('$14')} RETURNING id AS gate_id, latest_at AS at, thread_sequence
    ), ${grantedText('tick', '$14')}, ${parts}made AS (
      INSERT INTO thread (organization_id, id, sequence, user_id, title, account_id, secondary_id, created_at,
        activity_at, published, version)
      SELECT $3, $4, thread_sequence, $5, $6, $7, $8, at, at, false, at FROM ${moment}
      RETURNING user_id, account_id, 1 AS threads, 0 AS published
    ), asked AS (${insertUserMessage(moment, 'at', '$9', '$10')}
    ), reply AS (${insertReply(moment, 'at', { replyId: '$11', deadlineMs: '$12', traceId: '$13' })}
    ), sizes AS (${adjustSizes('$3', 'made')})
    SELECT at FROM ${moment}`;
}

const create = { name: 'create-thread', text: createText('granted') };
// The organization's row orders creates with the same key: the second finds that there is nothing to do.
const createOnce = {
  name: 'create-thread-once',
  text: createText(
    'due',
    `fresh AS (
      INSERT INTO idempotency_key AS known (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id,
        created_at, expires_at)
      SELECT $3, $5, $15, $16, $4, $9, $11, at, at + $17::bigint FROM granted
      ON CONFLICT (organization_id, user_id, key) DO UPDATE SET body_hash = excluded.body_hash,
        thread_id = excluded.thread_id, message_id = excluded.message_id, reply_id = excluded.reply_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE known.expires_at <= excluded.created_at RETURNING 1
    ), due AS (
      SELECT granted.* FROM granted, fresh
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
const withMessages = (condition: string) => `SELECT ${threadColumns}, version, ${messageColumns}
  FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
  WHERE thread.organization_id = $1 AND thread.id = $2 AND ${condition} ORDER BY ${inOrderOfCreation}`;
const isReadable = 'deleted_at IS NULL AND (published OR user_id = $3)';
const selectWithMessages = { name: 'get-thread', text: withMessages('true') };
const selectReadableWithMessages = { name: 'read-thread', text: withMessages(isReadable) };
const selectVersion = {
  name: 'thread-version',
  text: `SELECT version FROM thread WHERE organization_id = $1 AND id = $2 AND ${isReadable}`,
};
const selectRunning = {
  name: 'find-running-reply',
  text: `SELECT (SELECT message.id FROM message WHERE message.organization_id = $1 AND thread_id = $2 AND ${isRunning}
      LIMIT 1) AS running
    FROM thread WHERE organization_id = $1 AND id = $2 AND ${isReadable}`,
};
const rename = {
  name: 'rename-thread',
  text: `WITH tick AS (
      UPDATE organization SET latest_at = greatest(${now}, latest_at + 1), move_sequence = move_sequence + 1
      WHERE id = $3 AND ${apiOpen('$7')} AND EXISTS (
        SELECT FROM thread WHERE organization_id = $3 AND id = $4 AND user_id = $5 AND deleted_at IS NULL)
      RETURNING id AS gate_id, latest_at AS tick_at, move_sequence AS tick_sequence
    ), ${grantedText('tick', '$7')}, left_behind AS (${ownThread('granted')}
    ), ${noteMove('left_behind')}
    UPDATE thread SET title = $6, updated_at = tick_at, activity_at = tick_at, ${nextVersion} FROM left_behind
    WHERE thread.organization_id = $3 AND thread.id = $4 RETURNING ${threadColumns}`,
};

export function postgresThreads(database: Database): Omit<Threads, 'beginWalk' | 'continueWalk'> {
  const { run, time } = database;
  const find = findThread(run);
  const revoked = isRevoked(database);

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
    if (await revoked(organizationId, thread)) return { outcome: 'revoked' };
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
      if (made === undefined) {
        if (await revoked(organizationId, thread)) return { outcome: 'revoked' };
        throw new Error(`There is no organization ${organizationId}.`);
      }
      time.see(made.at);
      return { outcome: 'created', createdAt: made.at };
    },

    async getThread(organizationId, threadId, reader) {
      type Row = ThreadRow & MessageRow & { version: number };
      const rows = await (reader === undefined
        ? run<Row>(selectWithMessages, [organizationId, threadId])
        : run<Row>(selectReadableWithMessages, [organizationId, threadId, reader.userId]));
      const [first] = rows;
      return first && { thread: toThread(first), version: first.version, messages: rows.map(toMessage) };
    },

    async threadVersion(organizationId, threadId, { userId }) {
      const [row] = await run<{ version: number }>(selectVersion, [organizationId, threadId, userId]);
      return row?.version;
    },

    async findRunningReply(organizationId, threadId, { userId }) {
      const values = [organizationId, threadId, userId];
      const [row] = await run<{ running: MessageId | null }>(selectRunning, values);
      return row?.running;
    },

    async renameThread(organizationId, threadId, writer, title) {
      const values = [organizationId, threadId, writer.userId, title, writer.keyHash];
      const [renamed] = await run<ThreadRow>(rename, [...time.parameters(), ...values]);
      if (renamed === undefined) {
        if (await revoked(organizationId, writer)) return { outcome: 'revoked' };
        const thread = await find(organizationId, threadId);
        return thread ? { outcome: 'refused', thread } : { outcome: 'missing' };
      }
      time.see(renamed.updated_at!);
      return { outcome: 'renamed', thread: toThread(renamed) };
    },

    ...postgresThreadListing(database),
    ...postgresFollowUps(database),
    listAccounts: listAccounts(run),
  };
}

function parametersOf(organizationId: OrganizationId, thread: NewThread): unknown[] {
  const { id, userId, title, accountId, secondaryId, messageId, prompt, replyId } = thread;
  const { replyDeadlineMs, traceId } = thread;
  const texts = [userId, title, accountId, secondaryId, messageId, prompt, replyId];
  return [organizationId, id, ...texts, replyDeadlineMs, traceId, thread.keyHash];
}
