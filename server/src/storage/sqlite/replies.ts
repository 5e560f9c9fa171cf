import type { ClaimedReply, Notices, Replies, ReplyClaim, ReplyName } from '../port/store.ts';
import { writeNote } from '../sql/audit.ts';
import {
  forQueues,
  isHeld,
  progressValues,
  queues,
  releaseValues,
  replyChanges,
  replyReads,
  resultValues,
} from '../sql/replies.ts';
import { type Statement, sql, sqliteStatement, type Values } from '../sql/sql.ts';
import { endLeases, replySweep } from '../sql/sweeps.ts';
import { count, method, rows, run, type Transactions, type Work } from '../sql/work.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { WorkerLock } from './locks.ts';
import type { MachineClock } from './store-time.ts';
import { raiseVersion } from './thread-changes.ts';

const isReply = sql`organization_id = :organizationId AND thread_id = :threadId AND id = :messageId`;
/** Every write of a worker names its claim. It changes nothing after another claim or after the end of the reply. */
const isClaimed = sql`${isReply} AND claim_token = :token AND ${isHeld}`;

// `+ 0` as in walks.ts: with a bare parameter the query would be compiled again at every call.
const findDue = forQueues(
  (queue) => sqliteStatement(`due-replies-${queue}`)`
  SELECT reply.organization_id AS "organizationId", thread_id AS "threadId", reply.id AS "messageId",
    claim_token + 1 AS token, attempts, deadline_at - :now AS "remainingMs", trace_id AS "traceId",
    account_id AS "accountId"
  FROM message AS reply INDEXED BY ${queues[queue].index}
  JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
  WHERE ${queues[queue].isWaiting} AND reply.organization_id = :organizationId AND available_at <= :now AND deadline_at > :now
  ORDER BY available_at, reply.id LIMIT :limit + 0`,
);
const claim = sqliteStatement('claim-reply')`
  UPDATE message SET held = 1, claim_token = :token, available_at = :now + :leaseMs WHERE ${isReply}`;
const renew = sqliteStatement('renew-reply')`
  UPDATE message SET available_at = :now + :leaseMs WHERE ${isClaimed} RETURNING id`;
const recordProgress = sqliteStatement('record-reply-progress')`
  UPDATE message SET ${replyChanges.progress} WHERE ${isClaimed} RETURNING id`;
const settle = sqliteStatement('settle-reply')`
  UPDATE message SET ${replyChanges.settle} WHERE ${isClaimed} RETURNING id`;
const release = sqliteStatement('release-reply')`
  UPDATE message SET ${replyChanges.release} WHERE ${isClaimed} RETURNING id`;

/** Returns whether the claim was still valid and the change was written. */
function* change(statement: Statement, held: ReplyClaim, values: Values): Work<boolean> {
  if ((yield* count(statement, { ...held, ...values })) === 0) return false;
  yield* raiseVersion(held);
  return true;
}

export function sqliteReplies(
  transactions: Transactions,
  commits: CommitQueue,
  clock: MachineClock,
  workerLock: WorkerLock,
): Omit<Replies, 'cancelReplies'> & Notices {
  const { write, writeUnsynced } = transactions;
  const startMs = clock.steady();
  const reading = { time: commits.now(), beforeMs: startMs, afterMs: startMs };

  return {
    ...replyReads(transactions),

    // Claims, renewals and progress need no sync: a reply that loses them to a power cut starts over.
    claimReplies: method(writeUnsynced, function* (shares, leaseMs, queue = 'usual') {
      const claimed: ClaimedReply[] = [];
      for (const { organizationId, limit } of shares)
        claimed.push(...(yield* rows<ClaimedReply>(findDue[queue], { organizationId, limit })));
      for (const reply of claimed) yield* run(claim, { ...reply, leaseMs });
      return claimed;
    }),

    renewReplies: method(writeUnsynced, function* (claims, leaseMs) {
      const lost: ReplyClaim[] = [];
      for (const held of claims) if ((yield* count(renew, { ...held, leaseMs })) === 0) lost.push(held);
      return lost;
    }),

    recordReplyProgress: (held, progress) =>
      writeUnsynced(() => change(recordProgress, held, progressValues(progress))),

    settleReply: method(write, function* (held, { note, ...result }) {
      const settled = yield* change(settle, held, resultValues(result));
      if (settled && note) yield* writeNote(held.organizationId, note);
      return settled;
    }),

    releaseReply: (held, why) => write(() => change(release, held, releaseValues(why))),

    sweepReplies: replySweep(transactions, reading, clock.steady),

    async releaseOrphanedReplies() {
      let crashed: ReplyName[] = [];
      const all = { until: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };
      await workerLock.join(async () => {
        crashed = await write(() => endLeases(all));
      });
      return crashed;
    },

    // Other processes on the same file poll five times a second.
    async sendNotice() {},
    onNotice() {},
  };
}
