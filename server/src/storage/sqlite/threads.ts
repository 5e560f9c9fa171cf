import type { PersonAuthority } from '../../domain/authority.ts';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { canBeReadBy } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import { estimateMemory } from '../cache/object-cache.ts';
import type { KeyGrant, NewThread, Reader, Replies, Threads, Walks, WholeThread } from '../port/store.ts';
import { writeNote } from '../sql/audit.ts';
import { isAuthorized, isGrantedTo, unauthorized } from '../sql/authority.ts';
import { sqliteStatement } from '../sql/sql.ts';
import {
  type Created,
  findThread,
  isThread,
  type NoWrite,
  nextVersion,
  readWhole,
  repeatedCreate,
  threadColumns,
  threadReads,
} from '../sql/thread-reads.ts';
import { method, row, run, type Transactions, type Work } from '../sql/work.ts';
import {
  adjustSizes,
  cancelRunning,
  insertMessages,
  recordMove,
  sqliteThreadChanges,
  takeTick,
} from './thread-changes.ts';
import type { WatchedCache } from './watched-cache.ts';

const insertThread = sqliteStatement('insert-thread')`
  INSERT INTO thread (organization_id, id, user_id, title, account_id, secondary_id, created_at, activity_at, published,
    version)
  VALUES (:organizationId, :id, :userId, :title, :accountId, :secondaryId, :now, :now, 0, :now)
  RETURNING created_at AS at`;
const insertKey = sqliteStatement('insert-idempotency-key')`INSERT OR REPLACE INTO idempotency_key
    (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id, created_at, expires_at)
  VALUES (:organizationId, :userId, :key, :bodyHash, :id, :messageId, :replyId, :now, :now + :keepMs)`;
const rename = sqliteStatement('rename-thread', { booleans: ['published'] })`
  UPDATE thread SET title = :title, updated_at = :at, activity_at = :at, ${nextVersion} WHERE ${isThread}
  RETURNING ${threadColumns}`;
const softDelete = sqliteStatement('delete-thread')`
  UPDATE thread SET deleted_at = :now, ${nextVersion} WHERE ${isThread}`;

/** A key that is still cached has not changed since it was read. */
function* isGranted(
  cache: WatchedCache,
  organizationId: OrganizationId,
  authority: PersonAuthority,
): Work<boolean> {
  const cached = authority.kind === 'key' ? cache.get<KeyGrant>(authority.keyHash) : undefined;
  if (authority.kind === 'key' && isGrantedTo(organizationId, authority, cached)) return true;
  return yield* isAuthorized(organizationId, authority);
}

function* create(
  cache: WatchedCache,
  organizationId: OrganizationId,
  thread: NewThread,
  authority: PersonAuthority,
): Work<Created> {
  const { id: threadId, messageId, prompt, idempotency } = thread;
  const { userId } = authority;
  if (!(yield* isGranted(cache, organizationId, authority))) return unauthorized;
  const first = idempotency && (yield* repeatedCreate(organizationId, userId, idempotency));
  if (first !== undefined) return first;
  const { at } = (yield* row<{ at: number }>(insertThread, { ...thread, organizationId, userId }))!;
  const reply = { ...thread, prompt: { messageId, content: prompt } };
  yield* insertMessages({ organizationId, threadId }, reply, at);
  yield* adjustSizes({ ...thread, organizationId, userId }, { threads: 1, published: 0 });
  if (idempotency) yield* run(insertKey, { ...thread, ...idempotency, organizationId, userId });
  return { outcome: 'created', createdAt: at };
}

/** The person's thread, or why they may not change it. */
function* findOwn(
  cache: WatchedCache,
  organizationId: OrganizationId,
  threadId: ThreadId,
  authority: PersonAuthority,
): Work<Thread | NoWrite> {
  if (!(yield* isGranted(cache, organizationId, authority))) return unauthorized;
  const thread = yield* findThread(organizationId, threadId);
  if (thread === undefined) return { outcome: 'missing' };
  const isOwn = thread.deletedAt === null && thread.userId === authority.userId;
  return isOwn ? thread : { outcome: 'refused', thread };
}

function isNoWrite(found: Thread | NoWrite): found is NoWrite {
  return found === unauthorized || 'outcome' in found;
}

export function sqliteThreads(
  transactions: Transactions,
  cache: WatchedCache,
): Omit<Threads, keyof Walks> & Pick<Replies, 'cancelReplies'> {
  const { read, write } = transactions;
  const reads = threadReads(transactions);
  /** A thread that the reader may not read is looked up, so that it takes as long as one that does not exist. */
  function findCached(
    organizationId: OrganizationId,
    threadId: ThreadId,
    reader?: Reader,
  ): WholeThread | undefined {
    const cached = cache.get<WholeThread>(threadId);
    if (cached?.thread.organizationId !== organizationId) return undefined;
    return reader === undefined || canBeReadBy(cached.thread, reader.userId) ? cached : undefined;
  }

  return {
    ...reads,

    createThread: (...call) => write(() => create(cache, ...call)),

    async getThread(organizationId, threadId, reader) {
      const cached = findCached(organizationId, threadId, reader);
      if (cached !== undefined) return cached;
      const thread = await read(() => readWhole(organizationId, threadId, reader));
      // Workers read threads of any size. What is cached is also returned to readers, who ask for small ones.
      return thread && reader !== undefined ? cache.set(threadId, thread, estimateMemory(thread)) : thread;
    },

    threadVersion: async (organizationId, threadId, reader) =>
      findCached(organizationId, threadId, reader)?.version ??
      reads.threadVersion(organizationId, threadId, reader),

    renameThread: method(write, function* (organizationId, threadId, title, authority) {
      const before = yield* findOwn(cache, organizationId, threadId, authority);
      if (isNoWrite(before)) return before;
      const tick = yield* takeTick(1, 0);
      yield* recordMove(before, tick);
      const renamed = yield* row<Thread>(rename, { organizationId, threadId, title, at: tick.at });
      return { outcome: 'renamed', thread: renamed! };
    }),

    deleteThread: method(write, function* (organizationId, threadId, note) {
      const before = yield* findOwn(cache, organizationId, threadId, note.authority);
      if (isNoWrite(before)) return before;
      yield* run(softDelete, { organizationId, threadId });
      const cancelled = yield* cancelRunning({ organizationId, threadId });
      yield* adjustSizes(before, { threads: -1, published: before.published ? -1 : 0 });
      yield* writeNote(organizationId, note);
      return { outcome: 'deleted', cancelled };
    }),

    ...sqliteThreadChanges(transactions),
  };
}
