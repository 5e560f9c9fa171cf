import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { MessageStatus } from '../../domain/message.ts';
import { isRunning as isRunningStatus } from '../../domain/reply.ts';
import type { Thread } from '../../domain/thread.ts';
import { accountKey } from '../listings.ts';
import type { NewReply, NewThread, Replies, Threads } from '../store.ts';
import { writeNote } from './audit.ts';
import { isRunning, messageBytes } from './messages.ts';
import { opaque, type Sql, type Statement, sql, statement } from './sql.ts';
import { findThread, threadColumns } from './thread-reads.ts';
import { row, rows, run, type Transactions, type Work } from './work.ts';

/** What the databases do differently. */
export interface ThreadDialect {
  /** For a SET clause: the thread is not deleted any more. */
  readonly restore: Sql;
  /**
   * Returns a time `at` for a change of the organization, later than everything committed before and than `:previousAt`,
   * and the number `move` of the last of `:moves` moves.
   */
  readonly tick: Statement;
}

/** The ids of a thread. */
export interface ThreadName {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
}

export const isThread = sql`organization_id = :organizationId AND id = :threadId`;
const ofThread = sql`organization_id = :organizationId AND thread_id = :threadId`;

/**
 * For the SET clause of every UPDATE of a thread: a number that no earlier change had. It is the time unless the clock is
 * behind, so that a version lost to a power cut or to a restored backup is not used again.
 */
export const nextVersion = sql`version = greatest(thread.version + 1, :now)`;
const raise = statement('raise-version')`UPDATE thread SET ${nextVersion} WHERE ${isThread}`;

/** For every change that a reader can see. */
export const raiseVersion = (name: ThreadName): Work<void> => run(raise, { ...name });

const adjust = statement('adjust-listing-size')`
  INSERT INTO listing_size (organization_id, user_id, account_key, threads, published)
  VALUES (:organizationId, :user, :account, :threads, :published)
  ON CONFLICT (organization_id, user_id, account_key) DO UPDATE
  SET threads = listing_size.threads + excluded.threads, published = listing_size.published + excluded.published`;
const everyone = '';

/** Updates the sizes of listings. `threads` and `published`: by how much their numbers change. */
export function* adjustSizes(
  { organizationId, userId, accountId }: Pick<Thread, 'organizationId' | 'userId' | 'accountId'>,
  { threads, published }: { readonly threads: number; readonly published: number },
): Work<void> {
  for (const account of new Set([accountKey(null), accountKey(accountId)])) {
    // The row of all users counts published threads only.
    if (published !== 0)
      yield* run(adjust, { organizationId, user: everyone, account, threads: 0, published });
    yield* run(adjust, { organizationId, user: userId, account, threads, published });
  }
}

const insertMove = statement('insert-move')`
  INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
  VALUES (:organizationId, :move, :threadId, :leftActivityAt, :at)`;

/** Records the position that a thread leaves, so that walks in progress still find it there. */
export function* recordMove(
  thread: Thread,
  tick: { readonly at: number; readonly move: number },
): Work<void> {
  const { organizationId, id: threadId, updatedAt, createdAt } = thread;
  yield* run(insertMove, { ...tick, organizationId, threadId, leftActivityAt: updatedAt ?? createdAt });
}

const insertPrompt = statement('insert-prompt')`
  INSERT INTO message (organization_id, thread_id, id, role, content, created_at, replaces)
  VALUES (:organizationId, :threadId, :messageId, 'user', :content, :at, :replaces)`;
const insertReply = statement('insert-reply')`
  INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
    held, claim_token, available_at, attempts, deadline_at, trace_id)
  VALUES (:organizationId, :threadId, :replyId, 'assistant', '', :at, 'in_progress', '[]',
    :held, :token, :availableAt, 0, :deadlineAt, :traceId)`;

/** Inserts the prompt, if any, and the reply to it. */
export function* insertMessages(
  name: ThreadName,
  { prompt, replyId, replyDeadlineMs, traceId, claim }: Omit<NewReply, 'budget'> & Pick<NewThread, 'claim'>,
  at: number,
): Work<void> {
  if (prompt !== null) yield* run(insertPrompt, { ...name, replaces: null, ...prompt, at });
  const { token, leaseMs } = claim ?? { token: 0, leaseMs: 0 };
  const times = { at, availableAt: at + leaseMs, deadlineAt: at + replyDeadlineMs };
  yield* run(insertReply, { ...name, ...times, replyId, traceId, held: claim !== undefined, token });
}

const findKey = statement('find-idempotency-key')`
  SELECT body_hash AS "bodyHash", thread_id AS "threadId", message_id AS "messageId", reply_id AS "replyId",
    created_at AS "createdAt", expires_at > :now AS live
  FROM idempotency_key WHERE organization_id = :organizationId AND user_id = :userId AND key = :key`;

/** What a create with a known idempotency key returns, and whether the key is still live; undefined if it is unknown. */
export function* repeatedCreate(
  organizationId: OrganizationId,
  userId: UserId,
  { key, bodyHash }: NonNullable<NewThread['idempotency']>,
): Work<{ live: boolean; result: Awaited<ReturnType<Threads['createThread']>> } | undefined> {
  const known = yield* row<KnownKey>(findKey, { organizationId, userId, key });
  if (known === undefined) return undefined;
  const { bodyHash: knownHash, live, ...first } = known;
  return {
    live,
    result: knownHash === bodyHash ? { outcome: 'repeated', ...first } : { outcome: 'key-reused' },
  };
}

const cancel = statement('cancel-replies')`UPDATE message INDEXED BY message_running
  SET held = false, status = 'cancelled', completed_at = greatest(:now, created_at)
  WHERE ${ofThread} AND ${isRunning} RETURNING id`;

/** Returns the replies that it ended. The caller has locked the thread and raises its version. */
export function* cancelRunning(name: ThreadName): Work<MessageId[]> {
  return (yield* rows<{ id: MessageId }>(cancel, { ...name })).map(({ id }) => id);
}

// The organization's row is locked before the thread's, and that before those of its messages, as everywhere.
const lockListings = statement('lock-listings')`
  SELECT 1 FROM organization WHERE id = :organizationId FOR NO KEY UPDATE`;
const lockThread = statement('lock-thread')`SELECT ${threadColumns} FROM thread WHERE ${isThread} FOR UPDATE`;
const publish = statement('publish-thread')`UPDATE thread SET published = :published, ${nextVersion}
  WHERE ${isThread} AND ${opaque(sql`deleted_at IS NULL AND published <> :published`)} RETURNING ${threadColumns}`;
const findLatest = statement('find-latest-reply')`
  SELECT id, created_at AS "createdAt", status FROM message WHERE ${ofThread} AND role = 'assistant'
  ORDER BY created_at DESC, id DESC LIMIT 1`;
const findLastPrompt = statement('find-last-prompt')`
  SELECT id FROM message WHERE ${ofThread} AND role = 'user' ORDER BY created_at DESC, id DESC LIMIT 1`;
const readSize = statement('read-thread-size')`
  SELECT count(*) AS messages, sum(${messageBytes}) AS bytes FROM message WHERE ${ofThread}`;
const supersede = statement('supersede-reply')`
  UPDATE message SET unanswered_at = NULL WHERE ${ofThread} AND id = :id AND unanswered_at IS NOT NULL`;
const touch = statement('touch-thread')`
  UPDATE thread SET updated_at = :at, activity_at = :at WHERE ${isThread}`;

/** The changes of threads that only the console and the operator make. */
export function threadChanges(
  { write }: Transactions,
  dialect: ThreadDialect,
): Pick<Threads & Replies, 'addReply' | 'restoreThread' | 'setThreadPublished' | 'cancelReplies'> {
  const restore = statement('restore-thread')`UPDATE thread SET ${dialect.restore}, ${nextVersion}
    WHERE ${isThread} AND user_id = :userId AND deleted_at >= :now - CAST(:withinMs AS bigint)
    RETURNING ${threadColumns}`;

  return {
    addReply: (organizationId, threadId, userId, reply) =>
      write(function* () {
        const { prompt } = reply;
        const name = { organizationId, threadId };
        yield* run(lockListings, { organizationId });
        const thread = yield* row<Thread>(lockThread, name);
        if (thread === undefined || thread.deletedAt !== null) return { outcome: 'missing' };
        if (thread.userId !== userId) return { outcome: 'refused', thread };
        const latest = (yield* row<LatestReply>(findLatest, name))!;
        if (isRunningStatus(latest.status)) return { outcome: 'running' };
        if (prompt?.replaces !== undefined) {
          const last = yield* row<{ id: MessageId }>(findLastPrompt, name);
          if (prompt.replaces !== last?.id) return { outcome: 'outdated' };
        }
        const exceeded = exceededBy(reply, (yield* row<ThreadSize>(readSize, name))!);
        if (exceeded !== undefined) return { outcome: 'full', exceeded };
        const moves = prompt === null ? 0 : 1;
        const values = { organizationId, moves, previousAt: latest.createdAt };
        const tick = (yield* row<{ at: number; move: number }>(dialect.tick, values))!;
        yield* insertMessages(name, reply, tick.at);
        if (prompt === null || prompt.replaces !== undefined)
          yield* run(supersede, { ...name, id: latest.id });
        if (prompt !== null) {
          yield* recordMove(thread, tick);
          yield* run(touch, { ...name, at: tick.at });
        }
        yield* raiseVersion(name);
        return { outcome: 'added' };
      }),

    restoreThread: (organizationId, threadId, userId, withinMs, note) =>
      write(function* () {
        yield* run(lockListings, { organizationId });
        const restored = yield* row<Thread>(restore, { organizationId, threadId, userId, withinMs });
        if (restored === undefined) return 'missing';
        yield* adjustSizes(restored, { threads: 1, published: restored.published ? 1 : 0 });
        yield* writeNote(organizationId, note);
        return 'restored';
      }),

    setThreadPublished: (organizationId, threadId, published, note) =>
      write(function* () {
        yield* run(lockListings, { organizationId });
        const changed = yield* row<Thread>(publish, { organizationId, threadId, published });
        if (changed === undefined) {
          const thread = yield* findThread(organizationId, threadId);
          return thread?.deletedAt === null ? 'done' : 'missing';
        }
        yield* adjustSizes(changed, { threads: 0, published: published ? 1 : -1 });
        yield* writeNote(organizationId, note);
        return 'done';
      }),

    cancelReplies: (organizationId, threadId) =>
      write(function* () {
        const name = { organizationId, threadId };
        yield* run(lockThread, name);
        const cancelled = yield* cancelRunning(name);
        if (cancelled.length > 0) yield* raiseVersion(name);
        return cancelled;
      }),
  };
}

interface KnownKey {
  readonly bodyHash: string;
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
  readonly replyId: MessageId;
  readonly createdAt: number;
  readonly live: boolean;
}

interface LatestReply {
  readonly id: MessageId;
  readonly createdAt: number;
  readonly status: MessageStatus;
}

interface ThreadSize {
  readonly messages: number;
  readonly bytes: number;
}

function exceededBy({ prompt, budget }: NewReply, { messages, bytes }: ThreadSize) {
  if (messages + (prompt === null ? 1 : 2) > budget.messagesMax) return 'messages';
  const added = prompt === null ? 0 : Buffer.byteLength(prompt.content);
  return bytes + added > budget.bytesMax ? 'bytes' : undefined;
}
