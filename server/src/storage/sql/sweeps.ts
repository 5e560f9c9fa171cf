import { failedReplyContent as content, failureReasons } from '../../domain/reply.ts';
import { type ClockReading, clockJump } from '../port/clock-jumps.ts';
import type { FailedReply, Replies, ReplyName } from '../port/store.ts';
import { isHeld, isRunning, startOver } from './replies.ts';
import { jsonRows, opaque, type Sql, sql, statement, type Values } from './sql.ts';
import { nextVersion } from './thread-reads.ts';
import { count, row, rows, run, type Transactions, type Work } from './work.ts';

/** One sweep changes no more than this many replies of a kind; the next one continues. */
const sweptMax = 500;

// Usually there is nothing to write.
const findAny = statement('any-replies-to-sweep', { booleans: ['found'] })`SELECT :now AS at, EXISTS (
    SELECT 1 FROM message INDEXED BY message_held WHERE ${isHeld} AND available_at <= :now)
  OR EXISTS (
    SELECT 1 FROM message INDEXED BY message_deadline WHERE ${isRunning} AND deadline_at <= :now) AS found`;
const recordJump = statement('record-jump')`
  UPDATE store_clock SET jump_at = :at WHERE jump_at < :seenByOthersFrom RETURNING jump_at`;
const moveTimes = statement('move-times-of-replies')`UPDATE message INDEXED BY message_deadline
  SET available_at = available_at + :jumpedMs, deadline_at = deadline_at + :jumpedMs
  WHERE ${isRunning} AND created_at < :datedBefore`;

const replyName = sql`message.organization_id AS "organizationId", message.thread_id AS "threadId",
    message.id AS "messageId"`;
const field = (name: keyof ReplyName) => sql`(entry.value ->> '${name as Sql}')`;

/** Changes the running replies that `due` selects. Locked rows are left for the next sweep: waiting could deadlock. */
function createSweep(name: string, index: Sql, due: Sql, change: Sql) {
  const find = statement(`find-${name}-replies`)`
    SELECT ${replyName} FROM message INDEXED BY ${index} WHERE ${due} LIMIT :limit + 0`;
  const lock = statement(`lock-${name}-replies`)`
    SELECT ${replyName} FROM json_each(:replies) AS entry CROSS JOIN thread CROSS JOIN message
    WHERE thread.organization_id = ${field('organizationId')} AND thread.id = ${field('threadId')}
      AND message.organization_id = thread.organization_id AND message.thread_id = thread.id
      AND message.id = ${field('messageId')} AND ${opaque(due)}
    FOR NO KEY UPDATE OF thread, message SKIP LOCKED`;
  const update = statement(`sweep-${name}-replies`)`UPDATE message SET held = false, ${change}
    WHERE (organization_id, thread_id, id) IN (
      SELECT ${field('organizationId')}, ${field('threadId')}, ${field('messageId')} FROM json_each(:replies) AS entry)
    RETURNING ${replyName}, trace_id AS "traceId", failure`;
  return function* (values: Values): Work<FailedReply[]> {
    const found = yield* rows<ReplyName>(find, values);
    if (found.length === 0) return [];
    const locked = yield* rows<ReplyName>(lock, { ...values, replies: jsonRows(found) });
    const replies = jsonRows(locked);
    yield* run(raiseVersions, { replies });
    return yield* rows<FailedReply>(update, { ...values, replies });
  };
}

const raiseVersions = statement('raise-versions')`UPDATE thread SET ${nextVersion}
  WHERE (organization_id, id) IN (
    SELECT ${field('organizationId')}, ${field('threadId')} FROM json_each(:replies) AS entry)`;

/** Leases and deadlines up to `:until` have ended. */
const isExpired = sql`${isHeld} AND available_at <= :until`;
const isOverdue = sql`${isRunning} AND deadline_at <= :until`;
const fail = sql`status = 'failed', content = :content, failure = :failure, completed_at = greatest(:now, created_at)`;
const failOverdue = createSweep('overdue', sql`message_deadline`, isOverdue, fail);
const releaseExpired = createSweep(
  'expired',
  sql`message_held`,
  isExpired,
  sql`crashes = crashes + 1, available_at = CASE WHEN available_at > :now THEN :now ELSE available_at END, ${startOver}`,
);

/** Ends the leases up to `until`, and counts a crash of each reply. */
export function* endLeases(values: Record<'until' | 'limit', number>): Work<ReplyName[]> {
  const crashed = yield* releaseExpired(values);
  return crashed.map(({ organizationId, threadId, messageId }) => ({ organizationId, threadId, messageId }));
}

/** `beforeSweep` is called with the store's time after leases and deadlines were moved by a jump of the clock. */
export function replySweep(
  { read, write }: Transactions,
  first: ClockReading,
  steady: () => number,
  beforeSweep: (at: number) => Promise<void> = async () => {},
): Replies['sweepReplies'] {
  let last = first;
  return async ({ leases }) => {
    const beforeMs = steady();
    const { at, found } = (await read(() => row<{ at: number; found: boolean }>(findAny)))!;
    const reading = { time: at, beforeMs, afterMs: steady() };
    const jump = clockJump(last, reading);
    if (jump !== undefined) {
      await write(function* () {
        if ((yield* count(recordJump, { ...jump, at })) === 1) yield* run(moveTimes, { ...jump });
      });
    }
    last = reading;
    await beforeSweep(at);
    if (!found) return { failed: [], crashed: [] };
    return write(function* () {
      // Not up to the time of the write: the clock may have jumped since the reading.
      const due = { until: at, limit: sweptMax };
      const failed = yield* failOverdue({ ...due, content, failure: failureReasons.overdue });
      return { failed, crashed: leases ? yield* endLeases(due) : [] };
    });
  };
}
