import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { AssistantMessage } from '../../domain/message.ts';
import { isRunning as isRunningStatus } from '../../domain/reply.ts';
import type { Thread } from '../../domain/thread.ts';
import { accountKey } from '../port/listings.ts';
import type { NewReply, NewThread, Replies, Threads } from '../port/store.ts';
import { writeNote } from '../sql/audit.ts';
import { authorized } from '../sql/authority.ts';
import {
  type Exceeded,
  endCancelled,
  exceeded,
  inheritedCrashes,
  isRunning,
  ofLatest,
  roomValues,
} from '../sql/replies.ts';
import { sql, sqliteStatement } from '../sql/sql.ts';
import { findThread, isThread, nextVersion, threadColumns } from '../sql/thread-reads.ts';
import { row, rows, run, type Transactions, type Work } from '../sql/work.ts';

type ThreadIds = { readonly organizationId: OrganizationId; readonly threadId: ThreadId };

const ofThread = sql`organization_id = :organizationId AND thread_id = :threadId`;

const raise = sqliteStatement('raise-version')`UPDATE thread SET ${nextVersion} WHERE ${isThread}`;

/** For every change that a reader can see. */
export const raiseVersion = (ids: ThreadIds): Work<void> => run(raise, { ...ids });

const adjust = sqliteStatement('adjust-listing-size')`
  INSERT INTO listing_size (organization_id, user_id, account_key, threads, published)
  VALUES (:organizationId, :user, :account, :threads, :published)
  ON CONFLICT (organization_id, user_id, account_key) DO UPDATE
  SET threads = listing_size.threads + excluded.threads, published = listing_size.published + excluded.published`;

/** Adds `threads` and `published`, which may be negative, to the sizes of the listings that include the thread. */
export function* adjustSizes(
  { organizationId, userId, accountId }: Pick<Thread, 'organizationId' | 'userId' | 'accountId'>,
  { threads, published }: { readonly threads: number; readonly published: number },
): Work<void> {
  for (const account of new Set([accountKey(null), accountKey(accountId)])) {
    // The row of all users counts published threads only.
    if (published !== 0) yield* run(adjust, { organizationId, user: '', account, threads: 0, published });
    yield* run(adjust, { organizationId, user: userId, account, threads, published });
  }
}

const insertMove = sqliteStatement('insert-move')`
  INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
  VALUES (:organizationId, :move, :threadId, :leftActivityAt, :at)`;

/** Records the position that a thread leaves, so that walks in progress still find it there. */
export function* recordMove(thread: Thread, tick: Tick): Work<void> {
  const { organizationId, id: threadId, updatedAt, createdAt } = thread;
  yield* run(insertMove, { ...tick, organizationId, threadId, leftActivityAt: updatedAt ?? createdAt });
}

const insertPrompt = sqliteStatement('insert-prompt')`
  INSERT INTO message (organization_id, thread_id, id, role, content, created_at, replaces)
  VALUES (:organizationId, :threadId, :messageId, 'user', :content, :at, :replaces)`;
const insertReply = sqliteStatement('insert-reply')`
  INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
    held, claim_token, available_at, attempts, crashes, deadline_at, trace_id)
  VALUES (:organizationId, :threadId, :replyId, 'assistant', '', :at, 'in_progress', '[]',
    :held, :token, :availableAt, 0, :crashes, :deadlineAt, :traceId)`;

export function* insertMessages(
  ids: ThreadIds,
  { prompt, replyId, replyDeadlineMs, traceId, claim }: Omit<NewReply, 'budget'> & Pick<NewThread, 'claim'>,
  at: number,
  crashes = 0,
): Work<void> {
  if (prompt !== null) yield* run(insertPrompt, { ...ids, replaces: null, ...prompt, at });
  const { token, leaseMs } = claim ?? { token: 0, leaseMs: 0 };
  const times = { at, availableAt: at + leaseMs, deadlineAt: at + replyDeadlineMs };
  yield* run(insertReply, { ...ids, ...times, replyId, traceId, held: claim !== undefined, token, crashes });
}

const cancel = sqliteStatement('cancel-replies')`UPDATE message INDEXED BY message_running
  SET ${endCancelled}
  WHERE ${ofThread} AND ${isRunning} RETURNING id`;

/** Returns the replies that it ended. The caller raises the thread's version. */
export function* cancelRunning(ids: ThreadIds): Work<MessageId[]> {
  return (yield* rows<{ id: MessageId }>(cancel, { ...ids })).map(({ id }) => id);
}

const tick = sqliteStatement('tick')`
  UPDATE store_clock SET move_sequence = move_sequence + :moves RETURNING :later AS at, move_sequence AS move`;

type Tick = { readonly at: number; readonly move: number };

/** A time later than everything committed before and than `previousAt`, and the number of the last of `moves` moves. */
export function* takeTick(moves: number, previousAt: number): Work<Tick> {
  return (yield* row<Tick>(tick, { moves, previousAt }))!;
}

const restore = sqliteStatement('restore-thread', {
  booleans: ['published'],
})`UPDATE thread SET deleted_at = NULL, ${nextVersion}
  WHERE ${isThread} AND user_id = :userId AND deleted_at >= :now - :withinMs RETURNING ${threadColumns}`;
const publish = sqliteStatement('publish-thread', {
  booleans: ['published'],
})`UPDATE thread SET published = :published, ${nextVersion}
  WHERE ${isThread} AND deleted_at IS NULL AND published <> :published RETURNING ${threadColumns}`;
const findLatest = sqliteStatement('find-latest-reply')`
  SELECT id, created_at AS "createdAt", status, ${inheritedCrashes} AS crashes FROM message WHERE ${ofThread} AND role = 'assistant'
  ORDER BY created_at DESC, id DESC LIMIT 1`;
const findLastPrompt = sqliteStatement(
  'find-last-prompt',
)`SELECT ${ofLatest('user', sql`id`, sql`:threadId`)} AS id`;
const readSize = sqliteStatement('read-thread-size')`
  SELECT ${exceeded} AS exceeded FROM message WHERE ${ofThread}`;
const supersede = sqliteStatement('supersede-reply')`
  UPDATE message SET unanswered_at = NULL WHERE ${ofThread} AND id = :id AND unanswered_at IS NOT NULL`;
const touch = sqliteStatement('touch-thread')`
  UPDATE thread SET updated_at = :at, activity_at = :at, ${nextVersion} WHERE ${isThread}`;

type LatestReply = Pick<AssistantMessage, 'id' | 'createdAt' | 'status'> & { readonly crashes: number };

type ThreadChanges = Pick<
  Threads & Replies,
  'addReply' | 'restoreThread' | 'setThreadPublished' | 'cancelReplies'
>;

/** The changes of threads that only the console and the operator make. */
export function sqliteThreadChanges({ write }: Transactions): ThreadChanges {
  return {
    addReply: authorized(write, function* (organizationId, threadId, reply, { userId }) {
      const { prompt } = reply;
      const ids = { organizationId, threadId };
      const thread = yield* findThread(organizationId, threadId);
      if (thread === undefined || thread.deletedAt !== null) return { outcome: 'missing' };
      if (thread.userId !== userId) return { outcome: 'refused', thread };
      const latest = yield* row<LatestReply>(findLatest, ids);
      // A purge of the organization has removed the messages.
      if (latest === undefined) return { outcome: 'missing' };
      if (isRunningStatus(latest.status)) return { outcome: 'running' };
      if (prompt?.replaces !== undefined) {
        const last = yield* row<{ id: MessageId }>(findLastPrompt, ids);
        if (prompt.replaces !== last?.id) return { outcome: 'outdated' };
      }
      const size = yield* row<Exceeded>(readSize, { ...ids, ...roomValues(reply) });
      if (size!.exceeded !== null) return { outcome: 'full', exceeded: size!.exceeded };
      const tick = yield* takeTick(prompt === null ? 0 : 1, latest.createdAt);
      yield* insertMessages(ids, reply, tick.at, latest.crashes);
      if (prompt === null || prompt.replaces !== undefined) yield* run(supersede, { ...ids, id: latest.id });
      if (prompt === null) yield* raiseVersion(ids);
      else {
        yield* recordMove(thread, tick);
        yield* run(touch, { ...ids, at: tick.at });
      }
      return { outcome: 'added' };
    }),

    restoreThread: authorized(write, function* (organizationId, threadId, withinMs, note) {
      const { userId } = note.authority;
      const restored = yield* row<Thread>(restore, { organizationId, threadId, userId, withinMs });
      if (restored === undefined) return 'missing';
      yield* adjustSizes(restored, { threads: 1, published: restored.published ? 1 : 0 });
      yield* writeNote(organizationId, note);
      return 'restored';
    }),

    setThreadPublished: authorized(write, function* (organizationId, threadId, published, note) {
      const changed = yield* row<Thread>(publish, { organizationId, threadId, published });
      if (changed === undefined) {
        const thread = yield* findThread(organizationId, threadId);
        return thread?.deletedAt === null ? 'done' : 'missing';
      }
      yield* adjustSizes(changed, { threads: 0, published: published ? 1 : -1 });
      yield* writeNote(organizationId, note);
      return 'done';
    }),

    cancelReplies: authorized(write, function* (organizationId, threadId, _authority) {
      const ids = { organizationId, threadId };
      const cancelled = yield* cancelRunning(ids);
      if (cancelled.length > 0) yield* raiseVersion(ids);
      return cancelled;
    }),
  };
}
