import { ClockJumps } from '../clock-jumps.ts';
import { writeNote } from '../sql/audit.ts';
import {
  isHeld,
  isRunning,
  isWaiting,
  progressValues,
  replyReads,
  resultValues,
  startOver,
  sweptMax,
} from '../sql/replies.ts';
import { type Sql, type Statement, sql, statement, type Values } from '../sql/sql.ts';
import { count, rows, run, type Transactions, type Work } from '../sql/work.ts';
import type {
  ClaimedReply,
  FailedReply,
  FailureTexts,
  Notices,
  Replies,
  ReplyClaim,
  ReplyName,
} from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { WorkerLock } from './locks.ts';
import { raiseVersion } from './thread-changes.ts';

const isReply = sql`organization_id = :organizationId AND thread_id = :threadId AND id = :messageId`;
/** Every write of a worker names its claim. It changes nothing after another claim or after the end of the reply. */
const isClaimed = sql`${isReply} AND claim_token = :token AND ${isHeld}`;

// `+ 0` as in walks.ts: with a bare parameter the query would be compiled again at every call.
const findDue = statement('due-replies')`
  SELECT reply.organization_id AS "organizationId", thread_id AS "threadId", reply.id AS "messageId",
    claim_token + 1 AS token, attempts, deadline_at - :now AS "remainingMs", trace_id AS "traceId",
    account_id AS "accountId"
  FROM message AS reply INDEXED BY message_waiting
  JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
  WHERE ${isWaiting} AND reply.organization_id = :organizationId AND available_at <= :now AND deadline_at > :now
  ORDER BY available_at, reply.id LIMIT :limit + 0`;
const claim = statement('claim-reply')`
  UPDATE message SET held = 1, claim_token = :token, available_at = :now + :leaseMs WHERE ${isReply}`;
const renew = statement('renew-reply')`
  UPDATE message SET available_at = :now + :leaseMs WHERE ${isClaimed} RETURNING id`;
const recordProgress = statement('record-reply-progress')`
  UPDATE message SET status = :status, content = :content, steps = :steps WHERE ${isClaimed} RETURNING id`;
const settle = statement('settle-reply')`
  UPDATE message SET held = 0, status = :status, content = :content, steps = :steps, sources = :sources,
    verdict = :verdict, model = :model, failure = :failure, completed_at = :now,
    unanswered_at = CASE WHEN :unanswered THEN :now END
  WHERE ${isClaimed} RETURNING id`;
const release = statement('release-reply')`
  UPDATE message SET held = 0, attempts = attempts + :attemptsUsed, available_at = :now + :delayMs, failure = :failure,
    ${startOver}
  WHERE ${isClaimed} RETURNING id`;

/** Leases and deadlines up to `:until` have ended. */
const selectHeld = (
  condition: Sql,
) => sql`SELECT organization_id, thread_id, id FROM message INDEXED BY message_held
    WHERE ${isHeld} AND available_at <= :until AND ${condition} LIMIT :limit + 0`;
const selectOverdue = sql`SELECT organization_id, thread_id, id FROM message INDEXED BY message_deadline
    WHERE ${isRunning} AND deadline_at <= :until LIMIT :limit + 0`;
const sweep = (due: Sql, change: Sql) => sql`UPDATE message SET held = 0, ${change}
  WHERE (organization_id, thread_id, id) IN (${due})
  RETURNING organization_id AS "organizationId", thread_id AS "threadId", id AS "messageId", trace_id AS "traceId", failure`;
const fail = sql`status = 'failed', content = :content, failure = :failure, completed_at = :now`;
const failOverdue = statement('fail-overdue-replies')`${sweep(selectOverdue, fail)}`;
const failAbandoned = statement('fail-abandoned-replies')`
  ${sweep(selectHeld(sql`attempts + 1 >= :attemptsMax`), fail)}`;
const releaseExpired = statement('release-expired-replies')`${sweep(
  selectHeld(sql`attempts + 1 < :attemptsMax`),
  sql`attempts = attempts + 1, available_at = min(available_at, :now), ${startOver}`,
)}`;
const findExpired = statement('any-expired-reply')`${selectHeld(sql`true`)}`;
const findOverdue = statement('any-overdue-reply')`${selectOverdue}`;
const recordJump = statement('record-jump')`
  UPDATE store_clock SET jump_at = :time WHERE jump_at < :seenByOthersFrom RETURNING jump_at`;
const moveTimes = statement('move-times-of-replies')`UPDATE message INDEXED BY message_deadline
  SET available_at = available_at + :jumpedMs, deadline_at = deadline_at + :jumpedMs
  WHERE ${isRunning} AND created_at < :datedBefore`;

/** Returns whether the claim was still valid and the change was written. */
function* change(statement: Statement, held: ReplyClaim, values: Values): Work<boolean> {
  if ((yield* count(statement, { ...held, ...values })) === 0) return false;
  yield* raiseVersion(held);
  return true;
}

function* sweepBy<Swept extends ReplyName>(statement: Statement, values: Values): Work<Swept[]> {
  const swept = yield* rows<Swept>(statement, values);
  for (const reply of swept) yield* raiseVersion(reply);
  return swept;
}

function* endLeases({ content, abandoned }: FailureTexts, values: Values): Work<FailedReply[]> {
  const failed = yield* sweepBy<FailedReply>(failAbandoned, { ...values, content, failure: abandoned });
  yield* sweepBy(releaseExpired, values);
  return failed;
}

export function sqliteReplies(
  transactions: Transactions,
  commits: CommitQueue,
  workerLock: WorkerLock,
): Omit<Replies, 'cancelReplies'> & Notices {
  const { read, write, writeUnsynced } = transactions;
  const jumps = new ClockJumps(commits.read());

  return {
    ...replyReads(transactions),

    // Claims, renewals and progress need no sync: a reply that loses them to a power cut starts over.
    claimReplies: (shares, leaseMs) =>
      writeUnsynced(function* () {
        const claimed: ClaimedReply[] = [];
        for (const { organizationId, limit } of shares)
          claimed.push(...(yield* rows<ClaimedReply>(findDue, { organizationId, limit })));
        for (const reply of claimed) yield* run(claim, { ...reply, leaseMs });
        return claimed;
      }),

    renewReplies: (claims, leaseMs) =>
      writeUnsynced(function* () {
        const lost: ReplyClaim[] = [];
        for (const held of claims) if ((yield* count(renew, { ...held, leaseMs })) === 0) lost.push(held);
        return lost;
      }),

    recordReplyProgress: (held, progress) =>
      writeUnsynced(() => change(recordProgress, held, progressValues(progress))),

    settleReply: (held, { note, ...result }) =>
      write(function* () {
        const settled = yield* change(settle, held, resultValues(result));
        if (settled && note) yield* writeNote(held.organizationId, note);
        return settled;
      }),

    retryReply: (held, retry) => write(() => change(release, held, { attemptsUsed: 1, ...retry })),

    async releaseReply(held) {
      await write(() => change(release, held, { attemptsUsed: 0, delayMs: 0, failure: null }));
    },

    async sweepReplies(texts, { attemptsMax, leases }) {
      const reading = commits.read();
      const { time } = reading;
      const jump = jumps.jumpAt(reading);
      if (jump !== undefined) {
        await write(function* () {
          if ((yield* count(recordJump, { ...jump, time })) === 1) yield* run(moveTimes, { ...jump });
        });
      }
      jumps.accept(reading);
      // Not up to the time of the write: the clock may have jumped since the reading.
      const due = { attemptsMax, until: time, limit: sweptMax };
      // Read first, because usually there is nothing to write.
      const found = await read(function* () {
        const one = { until: time, limit: 1 };
        return (leases && (yield* count(findExpired, one)) > 0) || (yield* count(findOverdue, one)) > 0;
      });
      if (!found) return [];
      return write(function* () {
        const { content, overdue: failure } = texts;
        const overdue = yield* sweepBy<FailedReply>(failOverdue, { ...due, content, failure });
        return leases ? [...overdue, ...(yield* endLeases(texts, due))] : overdue;
      });
    },

    async releaseOrphanedReplies(texts, attemptsMax) {
      let failed: FailedReply[] = [];
      const all = { attemptsMax, until: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };
      await workerLock.join(async () => {
        failed = await write(() => endLeases(texts, all));
      });
      return failed;
    },

    // Other processes on the same file poll five times a second.
    async sendNotice() {},
    onNotice() {},
  };
}
