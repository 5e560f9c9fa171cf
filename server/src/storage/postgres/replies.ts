import { randomInt } from 'node:crypto';
import type { MessageId } from '../../domain/id.ts';
import type { ClockReading } from '../port/clock-jumps.ts';
import type { ClaimedReply, Replies } from '../port/store.ts';
import { insertNotes, noteColumns, noteValues, withoutNote } from '../sql/audit.ts';
import { authorityColumns, authorityValues, isAuthorized, unauthorized } from '../sql/authority.ts';
import {
  endCancelled,
  forQueues,
  isHeld,
  isRunning,
  progressValues,
  queues,
  releaseValues,
  replyChanges,
  replyReads,
  resultValues,
} from '../sql/replies.ts';
import {
  type CallColumns,
  callColumns,
  columnName,
  opaque,
  postgresStatement,
  type Sql,
  sql,
  withColumns,
} from '../sql/sql.ts';
import { replySweep } from '../sql/sweeps.ts';
import { nextVersion } from '../sql/thread-reads.ts';
import { callsLocking, callsWith, callValues, type Database, isLockTimeout, lockMs } from './database.ts';
import { isGranted } from './grants.ts';

const threadColumns = callColumns({ text: 'organizationId threadId' });
const claimColumns = { ...threadColumns, ...callColumns({ text: 'messageId', bigint: 'token' }) };

/** Every write of a worker names its claim, so that it changes nothing once the claim is lost or the reply has ended. */
const isClaimed = sql`message.id = message_id AND ${opaque(sql`claim_token = token AND held`)}`;

/**
 * Changes the running replies of calls with a `grant` if `condition` holds, and raises the versions of their threads.
 * Threads are locked before replies, and rows in the order of their keys: another order would deadlock.
 */
function changeReplies(columns: CallColumns, change: Sql, condition: Sql, grant = sql`true`): Sql {
  return sql`WITH call AS (
      SELECT * FROM ${callsLocking(columns)}
    ), held_thread AS (
      SELECT call.* FROM call JOIN thread ON thread.organization_id = call.organization_id AND thread.id = call.thread_id
        AND ${grant}
      ORDER BY thread.organization_id, thread.id FOR NO KEY UPDATE OF thread
    ), held_reply AS (
      SELECT message.id AS reply_id, held_thread.* FROM held_thread JOIN message
        ON message.organization_id = held_thread.organization_id AND message.thread_id = held_thread.thread_id
        AND ${condition} AND ${opaque(sql`message.${isRunning}`)}
      ORDER BY message.organization_id, message.thread_id, message.id FOR UPDATE OF message
    ), changed AS (
      UPDATE message SET ${withColumns(change, columns)} FROM held_reply AS call
      WHERE message.organization_id = call.organization_id AND message.thread_id = call.thread_id
        AND message.id = reply_id
      RETURNING call.*, message.completed_at
    ), raised AS (
      UPDATE thread SET ${nextVersion} FROM changed
      WHERE thread.organization_id = changed.organization_id AND thread.id = changed.thread_id
    )`;
}

/** Claims, renewals and progress need no sync: after a power cut the reply is generated again from the start. */
const unsynced = sql`(SELECT set_config('synchronous_commit', 'off', true))`;

/** The node draws random tokens: none is reused after a crash, and the node knows its token even if the response is lost. */
const tokenEnd = 2 ** 48 - 1;

const shareColumns = callColumns({ text: 'organizationId', bigint: 'limit' });
const claims = forQueues(
  (queue) => postgresStatement(`claim-replies-${queue}`)`WITH due AS (
    SELECT ordinal, reply.* FROM ${callsWith(shareColumns)} CROSS JOIN LATERAL (
      SELECT organization_id, thread_id, id, available_at AS waiting_since FROM message
      WHERE organization_id = call.organization_id AND ${queues[queue].isWaiting} AND available_at <= :now AND deadline_at > :now
      ORDER BY available_at, id LIMIT call."limit" FOR UPDATE SKIP LOCKED
    ) AS reply
  ), claimed AS (
    UPDATE message SET held = true, claim_token = :token::bigint, available_at = :now + :leaseMs::bigint
    FROM due WHERE message.organization_id = due.organization_id AND message.thread_id = due.thread_id
      AND message.id = due.id AND ${opaque(queues[queue].isWaiting)}
    RETURNING message.organization_id, message.thread_id, message.id, claim_token, attempts, deadline_at, trace_id,
      available_at - :leaseMs::bigint AS at, ordinal, waiting_since
  )
  SELECT claimed.organization_id AS "organizationId", thread_id AS "threadId", claimed.id AS "messageId",
    claim_token AS token, account_id AS "accountId", trace_id AS "traceId", attempts, deadline_at - at AS "remainingMs",
    at, ${unsynced}
  FROM claimed JOIN thread ON thread.organization_id = claimed.organization_id AND thread.id = claimed.thread_id
  ORDER BY ordinal, waiting_since, claimed.id`,
);
const releaseUnconfirmed = postgresStatement('release-unconfirmed-claims')`UPDATE message
  SET held = false, available_at = :now WHERE ${isHeld} AND claim_token = ANY(:tokens::bigint[])`;
const heldReplies = sql`call JOIN message ON message.organization_id = call.organization_id
      AND message.thread_id = call.thread_id AND message.id = call.message_id
      AND ${opaque(sql`claim_token = token AND ${isHeld}`)}`;
// A locked row does not cost a worker its claim: the next heartbeat renews it.
const renewWith = (lock: Sql) => sql`WITH call AS (
    SELECT * FROM ${callsLocking(claimColumns)}
  ), claim AS (
    SELECT message.organization_id, message.thread_id, message.id FROM ${heldReplies}
    ORDER BY message.organization_id, message.thread_id, message.id FOR UPDATE OF message ${lock}
  ), renewed AS (
    UPDATE message SET available_at = :now + :leaseMs::bigint FROM claim
    WHERE message.organization_id = claim.organization_id AND message.thread_id = claim.thread_id
      AND message.id = claim.id
  )`;
const renew = postgresStatement('renew-replies')`${renewWith(sql``)} SELECT id, ${unsynced} FROM claim`;
const renewUnlocked = postgresStatement('renew-unlocked-replies')`
  ${renewWith(sql`SKIP LOCKED`)} SELECT message.id, ${unsynced} FROM ${heldReplies}`;
const progressColumns = { ...claimColumns, ...callColumns({ text: 'status content steps' }) };
const recordProgress = postgresStatement('record-reply-progress')`
  ${changeReplies(progressColumns, replyChanges.progress, isClaimed)}
  SELECT ordinal, ${unsynced} FROM changed`;
const settleColumns = {
  ...progressColumns,
  ...noteColumns,
  ...callColumns({ text: 'sources model failure verdict', boolean: 'unanswered' }),
};
const settle = postgresStatement(
  'settle-reply',
)`${changeReplies(settleColumns, replyChanges.settle, isClaimed)},
  noted AS (${insertNotes(sql`changed`, sql`completed_at`)}) SELECT ordinal FROM changed`;
const releaseColumns = {
  ...claimColumns,
  ...callColumns({ bigint: 'attemptsUsed crashesCounted delayMs', text: 'failure' }),
};
const release = postgresStatement('release-reply')`
  ${changeReplies(releaseColumns, replyChanges.release, isClaimed)} SELECT ordinal FROM changed`;
const cancelColumns = { ...threadColumns, ...authorityColumns };
const mayCancel = isGranted({
  organizationId: sql`call.organization_id`,
  apiEnabled: sql`(SELECT api_enabled FROM organization WHERE organization.id = call.organization_id)`,
  value: (name) => sql`call.${columnName(name)}`,
});
const cancel = postgresStatement(
  'cancel-replies',
)`${changeReplies(cancelColumns, endCancelled, sql`true`, mayCancel)}
  SELECT ordinal, reply_id AS id FROM changed`;
const keepTime = postgresStatement('keep-time')`
  UPDATE store_clock SET latest_at = :at::bigint WHERE latest_at < :at::bigint - 1000`;

export function postgresReplies(database: Database, reading: ClockReading): Replies {
  const { run, time } = database;
  const batchLimits = { batchesMax: 2, callsMax: 32, key: 'messageId' };
  const batchProgress = database.batched(recordProgress, progressColumns, batchLimits);
  const batchSettles = database.batched(settle, settleColumns, batchLimits);
  const batchReleases = database.batched(release, releaseColumns, batchLimits);
  const cancelLimits = { ...batchLimits, key: 'threadId' };
  const batchCancels = database.batched<{ id: MessageId }>(cancel, cancelColumns, cancelLimits);

  /**
   * Tokens of claims whose response was lost, and when each can be forgotten. The database may have made such a
   * claim, or be about to; no worker knows of it, and the end of its lease would count as a crash.
   */
  const unconfirmed = new Map<number, number>();

  async function beforeSweep(at: number): Promise<void> {
    await run(keepTime, { at });
    if (unconfirmed.size === 0) return;
    await run(releaseUnconfirmed, { tokens: [...unconfirmed.keys()] });
    for (const [token, endsMs] of unconfirmed) if (time.steady() > endsMs) unconfirmed.delete(token);
  }

  return {
    ...replyReads(database),

    async claimReplies(shares, leaseMs, queue = 'usual') {
      const claim = claims[queue];
      const token = randomInt(1, tokenEnd);
      const values = { ...callValues(claim, shareColumns, shares), leaseMs, token };
      const claimed = await run<ClaimedReply>(claim, values).catch((error) => {
        unconfirmed.set(token, time.steady() + leaseMs);
        throw error;
      });
      return claimed.map(toClaimedReply);
    },

    async renewReplies(claims, leaseMs) {
      const values = { ...callValues(renew, claimColumns, claims), leaseMs, lockMs };
      const rows = await run<{ id: MessageId }>(renew, values).catch((error) => {
        if (!isLockTimeout(error)) throw error;
        return run<{ id: MessageId }>(renewUnlocked, values);
      });
      const held = new Set(rows.map(({ id }) => id));
      return claims.filter(({ messageId }) => !held.has(messageId));
    },

    recordReplyProgress: async (held, progress) =>
      (await batchProgress({ ...held, ...progressValues(progress) })).length === 1,

    settleReply: async (held, { note, ...result }) => {
      const noted = note === undefined ? withoutNote : noteValues(note);
      return (await batchSettles({ ...held, ...noted, ...resultValues(result) })).length === 1;
    },

    releaseReply: async (held, why) => (await batchReleases({ ...held, ...releaseValues(why) })).length === 1,

    async cancelReplies(organizationId, threadId, authority) {
      const values = { ...authorityValues(authority), organizationId, threadId };
      const cancelled = (await batchCancels(values)).map(({ id }) => id);
      const isRefused =
        cancelled.length === 0 && !(await database.read(() => isAuthorized(organizationId, authority)));
      return isRefused ? unauthorized : cancelled;
    },

    sweepReplies: replySweep(database, reading, time.steady, beforeSweep),

    // The store cannot know which workers are alive: the leases of dead ones run out.
    releaseOrphanedReplies: async () => [],
  };
}

function toClaimedReply(row: ClaimedReply): ClaimedReply {
  const { organizationId, threadId, messageId, token, accountId, traceId, attempts, remainingMs } = row;
  return { organizationId, threadId, messageId, token, accountId, traceId, attempts, remainingMs };
}
