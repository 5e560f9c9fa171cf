import type { MessageId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { estimateMemory, type ObjectCache } from '../cache/object-cache.ts';
import type { Threads, Walks, WholeThread } from '../port/store.ts';
import { insertNotes, noteColumns, noteValues } from '../sql/audit.ts';
import { authorityColumns, authorityValues, isAuthorized, unauthorized } from '../sql/authority.ts';
import { isRunning, messageBytes } from '../sql/replies.ts';
import { type CallColumns, callColumns, opaque, postgresStatement, type Sql, sql } from '../sql/sql.ts';
import {
  messageColumns,
  nextVersion,
  outcomeOfNoWrite,
  pickThread,
  readWhole,
  repeatedCreate,
  threadColumns,
  threadReads,
  type WholeThreadRow,
  wholeThread,
} from '../sql/thread-reads.ts';
import { callsWith, type Database } from './database.ts';
import { isCallGranted } from './grants.ts';
import { adjustSizes, invalidateListings, postgresThreadChanges } from './thread-changes.ts';

/** The organization's next time: never before its last one, and one millisecond after it if the clock is behind. */
const nextTime = sql`CASE WHEN :now >= latest_at THEN :now ELSE latest_at + 1 END`;

const createColumns = {
  ...authorityColumns,
  ...callColumns({
    text: 'threadId title accountId secondaryId messageId prompt replyId traceId key bodyHash',
    bigint: 'replyDeadlineMs token leaseMs keepMs',
  }),
};
const callCount = sql`cardinality(:threadId::text[])`;

/**
 * The lock of the organization's row serializes its creates. Sequence and time thus grow in the order of commits, which
 * walks rely on, and the second of two creates with the same idempotency key finds nothing left to do.
 */
const create = postgresStatement('create-thread')`WITH call AS (
    SELECT * FROM ${callsWith(createColumns)}
  ), gate AS (
    UPDATE organization SET latest_at = ${nextTime}, thread_sequence = thread_sequence + cardinality(:threadId::text[])
    WHERE id = :organizationId
    RETURNING id AS gate_id, api_enabled, latest_at AS at, 
      thread_sequence - cardinality(:threadId::text[]) AS sequence_before
  ), granted AS (
    SELECT call.*, at, sequence_before + ordinal AS sequence FROM gate JOIN call ON ${isCallGranted}
  ), fresh AS (
    INSERT INTO idempotency_key AS known (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id,
      created_at, expires_at)
    SELECT DISTINCT ON (user_id, key) :organizationId, user_id, key, body_hash, thread_id, message_id, reply_id, at,
      at + keep_ms
    FROM granted WHERE key IS NOT NULL ORDER BY user_id, key, ordinal
    ON CONFLICT (organization_id, user_id, key) DO UPDATE SET body_hash = excluded.body_hash,
      thread_id = excluded.thread_id, message_id = excluded.message_id, reply_id = excluded.reply_id,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    WHERE known.expires_at <= excluded.created_at RETURNING thread_id
  ), due AS (
    SELECT * FROM granted WHERE key IS NULL OR thread_id IN (SELECT thread_id FROM fresh)
  ), made AS (
    INSERT INTO thread (organization_id, id, sequence, user_id, title, account_id, secondary_id, created_at,
      activity_at, published, version)
    SELECT :organizationId, thread_id, sequence, user_id, title, account_id, secondary_id, at, at, false, at FROM due
    RETURNING user_id, account_id, 1 AS threads, 0 AS published
  ), question AS (
    INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
    SELECT :organizationId, thread_id, message_id, 'user', prompt, at FROM due
  ), reply AS (
    INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
      held, claim_token, available_at, attempts, deadline_at, trace_id)
    SELECT :organizationId, thread_id, reply_id, 'assistant', '', at, 'in_progress', '[]',
      token IS NOT NULL, coalesce(token, 0), at + coalesce(lease_ms, 0), 0, at + reply_deadline_ms, trace_id FROM due
  ), sizes AS (${adjustSizes(sql`made`)})
  SELECT ordinal, at FROM due`;
/** A thread with more messages or bytes is read by a statement of its own, so that others do not wait for its texts. */
const batchedMessagesMax = 32;
const batchedBytesMax = 65_536;
const getColumns = callColumns({ text: 'organizationId threadId userId', bigint: 'knownVersion' });
/**
 * Most calls know the thread and get only its version. The messages are one column of JSON, because the driver pays for
 * each column of each row, even for an empty one. LATERAL keeps the planner from reading messages before it knows that
 * the thread may be read and is not the known one. As in `nearestThread`, one row is read if there is no such thread, too.
 */
const get = postgresStatement('get-thread')`SELECT ordinal, version, CASE WHEN fits THEN (
    SELECT json_agg(entry ORDER BY "messageCreatedAt", "messageId") FROM (
      SELECT ${threadColumns}, version, ${messageColumns} FROM message
      WHERE message.organization_id = thread.organization_id AND message.thread_id = thread.id) AS entry
    ) END AS rows
  FROM ${callsWith(getColumns)}
  JOIN LATERAL (
    SELECT * FROM thread WHERE organization_id = call.organization_id AND id >= call.thread_id ORDER BY id LIMIT 1) AS thread
    ON thread.id = call.thread_id
    AND (:anyReader::boolean OR deleted_at IS NULL AND (published OR thread.user_id = call.user_id))
  CROSS JOIN LATERAL (
    SELECT count(*) <= ${batchedMessagesMax}
      AND sum(${messageBytes}) <= least(:bytesMax::bigint, ${batchedBytesMax}) AS fits
    FROM message
    WHERE message.organization_id = thread.organization_id AND message.thread_id = thread.id
      AND version <> known_version
  ) AS size`;
/** A condition for joining a call with its thread: the thread is not deleted, and the person of the call created it. */
const isOwnThread = (call: Sql) => sql`
      thread.organization_id = :organizationId AND thread.id = ${call}.thread_id
      AND ${opaque(sql`deleted_at IS NULL AND thread.user_id = ${call}.user_id`)}`;
/** Locks the organization's row, and then the threads that the calls may change. If there are none, locks nothing. */
const heldThreads = (columns: CallColumns, change: Sql) => sql`WITH call AS (
    SELECT * FROM ${callsWith(columns)}
  ), gate AS (
    UPDATE organization SET ${change}
    WHERE id = :organizationId AND EXISTS (SELECT FROM call JOIN thread ON ${isOwnThread(sql`call`)})
    RETURNING id AS gate_id, api_enabled, latest_at AS tick_at, move_sequence AS last_move
  ), granted AS (
    SELECT call.*, tick_at, last_move FROM gate JOIN call ON ${isCallGranted}
  ), held_thread AS (
    SELECT granted.*, organization_id, activity_at, version FROM granted JOIN thread ON ${isOwnThread(sql`granted`)}
    ORDER BY thread.id FOR UPDATE OF thread
  )`;

const renameColumns = { ...authorityColumns, ...callColumns({ text: 'threadId title' }) };
const nextMoves = sql`latest_at = greatest(:now, latest_at + 1), move_sequence = move_sequence + ${callCount}`;
const rename = postgresStatement('rename-thread')`${heldThreads(renameColumns, nextMoves)}, moved AS (
    INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
    SELECT organization_id, last_move - ${callCount} + ordinal, thread_id, activity_at, tick_at FROM held_thread
  )
  UPDATE thread SET title = held_thread.title, updated_at = tick_at, activity_at = tick_at, ${nextVersion}
  FROM held_thread WHERE thread.organization_id = held_thread.organization_id AND thread.id = held_thread.thread_id
  RETURNING ordinal, ${threadColumns}`;

const deleteColumns = { ...authorityColumns, ...callColumns({ text: 'threadId' }), ...noteColumns };
/** The running reply is read before the locks are taken, so it is valid only if the locked thread has the same version. */
const softDelete = postgresStatement('delete-thread')`
  ${heldThreads(deleteColumns, invalidateListings)}, seen AS (
    SELECT id, version FROM call JOIN thread ON organization_id = :organizationId AND id = thread_id
  ), unchanged AS (
    SELECT held_thread.* FROM held_thread JOIN seen ON seen.id = thread_id AND seen.version = held_thread.version
  ), held_reply AS (
    SELECT message.thread_id, message.id FROM unchanged JOIN message
      ON message.organization_id = :organizationId AND message.thread_id = unchanged.thread_id
      AND CASE WHEN ${isRunning} THEN true END
    ORDER BY message.thread_id, message.id FOR UPDATE OF message
  ), deleted AS (
    UPDATE thread SET deleted_at = greatest(:now, unchanged.activity_at), version = greatest(thread.version + 1, :now)
    FROM unchanged
    WHERE thread.organization_id = :organizationId AND thread.id = unchanged.thread_id
    RETURNING unchanged.*, thread.account_id, thread.deleted_at, -1 AS threads,
      CASE WHEN thread.published THEN -1 ELSE 0 END AS published
  ), cancelled AS (
    UPDATE message SET held = false, status = 'cancelled', completed_at = greatest(:now, created_at)
    FROM held_reply WHERE message.organization_id = :organizationId AND message.thread_id = held_reply.thread_id
      AND message.id = held_reply.id
    RETURNING message.thread_id, message.id
  ), sizes AS (${adjustSizes(sql`deleted`)}
  ), noted AS (${insertNotes(sql`deleted`, sql`deleted_at`)})
  SELECT ordinal, ordinal IN (SELECT ordinal FROM deleted) AS deleted,
    ARRAY(SELECT id FROM cancelled WHERE cancelled.thread_id = held_thread.thread_id) AS cancelled
  FROM held_thread`;

export function postgresThreads(database: Database, cache: ObjectCache): Omit<Threads, keyof Walks> {
  const { read, time } = database;
  const createLimits = { batchesMax: 1, callsMax: 32 };
  const batchCreates = database.batched<{ at: number }>(create, createColumns, createLimits);
  /** Without `rows` if the version is the known one or the thread does not fit. */
  type GetRow = { readonly version: number; readonly rows: readonly WholeThreadRow[] | null };
  const batchGets = database.batched<GetRow>(get, getColumns, { batchesMax: 2 });
  const changeLimits = { batchesMax: 1, key: 'threadId' };
  const batchRenames = database.batched<Thread>(rename, renameColumns, changeLimits);
  type Deletion = { deleted: boolean; cancelled: MessageId[] };
  const batchDeletes = database.batched<Deletion>(softDelete, deleteColumns, changeLimits);

  const deleteThread: Threads['deleteThread'] = async (organizationId, threadId, note) => {
    const { authority } = note;
    const noted = { ...authorityValues(authority), ...noteValues(note) };
    const [held] = await batchDeletes({ ...noted, organizationId, threadId });
    if (held === undefined) return read(() => outcomeOfNoWrite(organizationId, threadId, authority));
    if (held.deleted) return { outcome: 'deleted', cancelled: held.cancelled };
    // The thread was changed between the read and the lock: a reply may have been added, which must be cancelled too.
    return deleteThread(organizationId, threadId, note);
  };

  const createThread: Threads['createThread'] = async (organizationId, thread, authority) => {
    const { id: threadId, idempotency, claim } = thread;
    const { token = null, leaseMs = null } = claim ?? {};
    const { key = null, bodyHash = null, keepMs = null } = idempotency ?? {};
    const call = { ...thread, ...authorityValues(authority), organizationId, threadId };
    const values = { ...call, token, leaseMs, key, bodyHash, keepMs };
    const [made] = await batchCreates(values);
    if (made !== undefined) return { outcome: 'created', createdAt: made.at };
    if (!(await read(() => isAuthorized(organizationId, authority)))) return unauthorized;
    const first =
      idempotency && (await read(() => repeatedCreate(organizationId, authority.userId, idempotency)));
    if (first === undefined && authority.kind === 'operator')
      throw new Error('The organization does not exist.');
    // If there is none, the person may write again since the statement, or the key was removed or has expired.
    return first ?? createThread(organizationId, thread, authority);
  };

  return {
    createThread,

    async getThread(organizationId, threadId, reader) {
      const { userId = null, bytesMax = Number.MAX_SAFE_INTEGER } = reader ?? {};
      const found = cache.peek<WholeThread>(threadId);
      const known = found?.thread.organizationId === organizationId ? found : undefined;
      const knownVersion = known?.version ?? 0;
      const anyReader = reader === undefined;
      const values = { organizationId, threadId, userId, anyReader, bytesMax, knownVersion };
      const [row] = await batchGets(values);
      if (row === undefined) {
        if (known) cache.remove(threadId);
        return undefined;
      }
      if (row.version === known?.version) return known;
      const thread = row.rows
        ? wholeThread(row.rows)
        : await read(() => readWhole(organizationId, threadId, reader));
      return thread && !anyReader ? cache.set(threadId, thread, estimateMemory(thread)) : thread;
    },

    async renameThread(organizationId, threadId, title, authority) {
      const values = { ...authorityValues(authority), organizationId, threadId, title };
      const [renamed] = await batchRenames(values);
      if (renamed === undefined) return read(() => outcomeOfNoWrite(organizationId, threadId, authority));
      time.see(renamed.updatedAt!);
      return { outcome: 'renamed', thread: pickThread(renamed) };
    },

    deleteThread,
    ...threadReads(database),
    ...postgresThreadChanges(database),
  };
}
