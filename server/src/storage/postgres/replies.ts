import { randomInt } from 'node:crypto';
import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { ClockJump, ClockJumps } from '../clock-jumps.ts';
import type { ClaimedReply, FailedReply, Replies, ReplyClaim, ReplyName } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';
import { nextVersion } from './thread-row.ts';

interface ClaimedRow {
  organization_id: OrganizationId;
  thread_id: ThreadId;
  id: MessageId;
  claim_token: number;
  attempts: number;
  deadline_at: number;
  trace_id: string;
  account_id: string | null;
  at: number;
}

interface NameRow {
  organization_id: OrganizationId;
  thread_id: ThreadId;
  id: MessageId;
}

interface FailedRow extends NameRow {
  trace_id: string;
  failure: string;
}

export const isRunning = "status IN ('in_progress', 'corroborating')";
const isWaiting = `NOT held AND ${isRunning}`;

/** Every write of a worker names its claim: one that was overtaken, or came after the end, changes nothing. */
const claimHolds = 'id = $5 AND claim_token = $6 AND held';

/**
 * Changes the running reply of a thread (organization $3, thread $4) if `condition` holds, and raises the thread's version.
 * The thread's row is locked first, as by everything that locks both: the other order would deadlock.
 */
function changeText(change: string, condition: string): string {
  return `WITH held_thread AS (
      SELECT FROM thread WHERE organization_id = $3 AND id = $4 FOR NO KEY UPDATE
    ), changed AS (
      UPDATE message SET ${change} FROM held_thread
      WHERE organization_id = $3 AND thread_id = $4 AND ${condition} AND ${isRunning} RETURNING id, completed_at
    ), raised AS (
      UPDATE thread SET ${nextVersion} FROM changed WHERE thread.organization_id = $3 AND thread.id = $4
    )`;
}

/** A reply that waits has nothing of an earlier claim: to claim it changes nothing that a reader sees. */
const fromItsBeginning = `status = 'in_progress', content = '', steps = '[]'`;

/** Claims, renewals and progress need no sync: whoever loses them to a power cut begins the reply anew. */
const unsynced = `set_config('synchronous_commit', 'off', true)`;

/** So many are looked at when the backlog is asked for: 3,000 running ones among 300,000 took 3 ms. */
const countedMax = 10_000;

/**
 * Tokens are random and drawn here: a claim that a crash of the database took back is not made again under the same
 * token, and a claim whose answer was lost can be found.
 */
const tokenEnd = 2 ** 48 - 1;

/** One statement of the sweep changes no more than this many replies; the next one goes on. */
const sweptMax = 500;

// A skip scan: one search for each organization that has something waiting, however much it is.
const waiting = {
  name: 'organizations-waiting',
  text: `WITH RECURSIVE waiting AS (
      (SELECT organization_id FROM message WHERE ${isWaiting} AND organization_id > $3
       ORDER BY organization_id LIMIT 1)
      UNION ALL
      SELECT (SELECT message.organization_id FROM message
        WHERE ${isWaiting} AND message.organization_id > waiting.organization_id
        ORDER BY message.organization_id LIMIT 1)
      FROM waiting WHERE waiting.organization_id IS NOT NULL
    )
    SELECT organization_id FROM waiting WHERE organization_id IS NOT NULL AND EXISTS (
      SELECT FROM message WHERE message.organization_id = waiting.organization_id AND ${isWaiting}
        AND available_at <= ${now})
    LIMIT $4`,
};
const claim = {
  name: 'claim-replies',
  text: `WITH due AS (
      SELECT share.place, reply.* FROM unnest($3::text[], $4::int[]) WITH ORDINALITY AS share (organization, places, place)
      CROSS JOIN LATERAL (
        SELECT organization_id, thread_id, id, available_at AS waiting_since FROM message
        WHERE organization_id = share.organization AND ${isWaiting} AND available_at <= ${now} AND deadline_at > ${now}
        ORDER BY available_at, id LIMIT share.places FOR UPDATE SKIP LOCKED
      ) AS reply
    ), claimed AS (
      UPDATE message SET held = true, claim_token = $6::bigint, available_at = ${now} + $5::bigint
      FROM due WHERE message.organization_id = due.organization_id AND message.thread_id = due.thread_id
        AND message.id = due.id AND ${isWaiting}
      RETURNING message.organization_id, message.thread_id, message.id, claim_token, attempts, deadline_at, trace_id,
        available_at - $5::bigint AS at, place, waiting_since
    )
    SELECT claimed.*, account_id, ${unsynced} FROM claimed
    JOIN thread ON thread.organization_id = claimed.organization_id AND thread.id = claimed.thread_id
    ORDER BY place, waiting_since, claimed.id`,
};
const letGoUnanswered = {
  name: 'let-go-of-unanswered-claims',
  text: `UPDATE message SET held = false, available_at = ${now}
    WHERE held AND ${isRunning} AND claim_token = ANY($3::bigint[])`,
};
const renew = {
  name: 'renew-replies',
  text: `UPDATE message SET available_at = ${now} + $7::bigint
    FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[]) AS held_claim (organization, thread, reply, token)
    WHERE organization_id = organization AND thread_id = thread AND id = reply AND claim_token = token
      AND held AND ${isRunning} RETURNING id, ${unsynced}`,
};
const progress = {
  name: 'record-reply-progress',
  text: `${changeText('status = $7, content = $8, steps = $9', claimHolds)} SELECT id, ${unsynced} FROM changed`,
};
const settleText = changeText(
  `held = false, status = $7, content = $8, steps = $9, sources = $10, model = $11, failure = $12, verdict = $13,
      completed_at = greatest(${now}, created_at)`,
  claimHolds,
);
const settle = { name: 'settle-reply', text: `${settleText} SELECT id FROM changed` };
const settleWithNote = {
  name: 'settle-reply-with-note',
  text: `${settleText}, noted AS (${auditText('changed', '$3', 'completed_at', 14)}) SELECT id FROM changed`,
};
const letGoText = changeText(
  `held = false, attempts = attempts + $7, available_at = ${now} + $8::bigint, failure = $9, ${fromItsBeginning}`,
  claimHolds,
);
const letGo = { name: 'let-go-of-reply', text: `${letGoText} SELECT id FROM changed` };
const cancelText = changeText(
  `held = false, status = 'cancelled', completed_at = greatest(${now}, created_at)`,
  'true',
);
const cancel = { name: 'cancel-replies', text: `${cancelText} SELECT id FROM changed` };
const anyToSweep = {
  name: 'any-replies-to-sweep',
  text: `SELECT ${now} AS at, EXISTS (SELECT FROM message WHERE held AND ${isRunning} AND available_at <= ${now})
    OR EXISTS (SELECT FROM message WHERE ${isRunning} AND deadline_at <= ${now}) AS found`,
};
/**
 * Changes up to $3 of the running replies that `condition` finds, and raises the versions of their threads. Whatever
 * somebody else works on is left for the next sweep: one that waited for locks while it holds many would deadlock.
 */
function sweepText(condition: string, change: string): string {
  return `WITH due AS (
      SELECT organization_id, thread_id, id FROM message WHERE ${isRunning} AND ${condition} LIMIT $3
    ), held_reply AS (
      SELECT due.* FROM due CROSS JOIN LATERAL (
        SELECT FROM thread WHERE organization_id = due.organization_id AND id = due.thread_id
        FOR NO KEY UPDATE SKIP LOCKED
      ) AS held_thread CROSS JOIN LATERAL (
        SELECT FROM message WHERE organization_id = due.organization_id AND thread_id = due.thread_id AND id = due.id
          AND ${isRunning} AND ${condition} FOR UPDATE SKIP LOCKED
      ) AS held_message
    ), changed AS (
      UPDATE message SET ${change} FROM held_reply WHERE message.organization_id = held_reply.organization_id
        AND message.thread_id = held_reply.thread_id AND message.id = held_reply.id
      RETURNING message.organization_id, message.thread_id, message.id, trace_id, failure
    ), raised AS (
      UPDATE thread SET ${nextVersion} FROM changed
      WHERE thread.organization_id = changed.organization_id AND thread.id = changed.thread_id
    )
    SELECT * FROM changed`;
}

const expired = (condition: string) => `held AND available_at <= ${now} AND ${condition}`;
const failing = `held = false, status = 'failed', content = $4, failure = $5,
  completed_at = greatest(${now}, created_at)`;
const failAbandoned = {
  name: 'fail-abandoned-replies',
  text: sweepText(expired('attempts + 1 >= $6::int'), failing),
};
const letGoExpired = {
  name: 'let-go-of-expired-replies',
  text: sweepText(
    expired('attempts + 1 < $4::int'),
    `held = false, attempts = attempts + 1, ${fromItsBeginning}`,
  ),
};
const failOverdue = { name: 'fail-overdue-replies', text: sweepText(`deadline_at <= ${now}`, failing) };
const moveTimes = {
  name: 'move-times-of-replies',
  text: `WITH recorded AS (UPDATE store_clock SET jump_at = $1::bigint WHERE jump_at < $2::bigint RETURNING only_row)
    UPDATE message SET available_at = available_at + $3::bigint, deadline_at = deadline_at + $3::bigint
    WHERE ${isRunning} AND created_at < $4::bigint AND EXISTS (SELECT FROM recorded)`,
};
const keepTime = {
  name: 'keep-time',
  text: 'UPDATE store_clock SET latest_at = $1::bigint WHERE latest_at < $1::bigint - 1000',
};
const ended = {
  name: 'ended-replies',
  text: `SELECT place FROM unnest($1::text[], $2::text[], $3::text[])
      WITH ORDINALITY AS asked (organization, thread, reply, place)
    WHERE NOT EXISTS (SELECT FROM message WHERE organization_id = organization AND thread_id = thread
      AND id = reply AND ${isRunning}) ORDER BY place`,
};
const backlog = {
  name: 'reply-backlog',
  text: `SELECT
      (SELECT count(*) FROM (SELECT FROM message WHERE ${isWaiting} LIMIT ${countedMax}) AS waiting) AS waiting,
      (SELECT count(*) FROM (SELECT FROM message WHERE held AND ${isRunning} LIMIT ${countedMax}) AS held) AS held,
      (SELECT ${now} - created_at FROM (SELECT created_at, deadline_at, held FROM message WHERE ${isRunning}
        ORDER BY deadline_at LIMIT ${countedMax}) AS running
       WHERE NOT held ORDER BY deadline_at LIMIT 1) AS oldest`,
};

export function postgresReplies(
  { run, time }: Database,
  jumps: ClockJumps,
): Omit<Replies, 'sendNotice' | 'onNotice'> {
  async function waitingAfter(after: string, limit: number): Promise<OrganizationId[]> {
    const values = [...time.parameters(), after, limit];
    const rows = await run<{ organization_id: OrganizationId }>(waiting, values);
    return rows.map(({ organization_id }) => organization_id);
  }
  const columnsOf = (replies: readonly ReplyName[]) => [
    replies.map(({ organizationId }) => organizationId),
    replies.map(({ threadId }) => threadId),
    replies.map(({ messageId }) => messageId),
  ];
  const claimParameters = ({ organizationId, threadId, messageId, token }: ReplyClaim) => [
    ...time.parameters(),
    organizationId,
    threadId,
    messageId,
    token,
  ];

  const makeUpFor = ({ jumpedMs, seenByOthersFrom, datedBefore }: ClockJump, at: number) =>
    run(moveTimes, [at, seenByOthersFrom, jumpedMs, datedBefore]);

  /**
   * Tokens of claims that failed without an answer, and when each can be forgotten. The database may have made such a
   * claim, or be about to; no worker knows of it, and its lease would run out at the cost of an attempt.
   */
  const unanswered = new Map<number, number>();

  async function letGoOfUnanswered(): Promise<void> {
    if (unanswered.size === 0) return;
    await run(letGoUnanswered, [...time.parameters(), [...unanswered.keys()]]);
    for (const [token, endsMs] of unanswered) if (time.steady() > endsMs) unanswered.delete(token);
  }

  return {
    async organizationsWaiting(after, limit) {
      const first = await waitingAfter(after ?? '', limit);
      if (after === undefined || first.length === limit) return first;
      // The second round ends where the first began.
      const rest = (await waitingAfter('', limit - first.length)).filter((id) => id <= after);
      return [...first, ...rest];
    },

    async claimReplies(shares, leaseMs) {
      const token = randomInt(1, tokenEnd);
      const rows = await run<ClaimedRow>(claim, [
        ...time.parameters(),
        shares.map(({ organizationId }) => organizationId),
        shares.map(({ limit }) => limit),
        leaseMs,
        token,
      ]).catch((error) => {
        unanswered.set(token, time.steady() + leaseMs);
        throw error;
      });
      if (rows[0] !== undefined) time.see(rows[0].at);
      return rows.map(toClaimedReply);
    },

    async renewReplies(claims, leaseMs) {
      const tokens = claims.map(({ token }) => token);
      const values = [...time.parameters(), ...columnsOf(claims), tokens, leaseMs];
      const renewed = new Set((await run<{ id: MessageId }>(renew, values)).map(({ id }) => id));
      return claims.filter(({ messageId }) => !renewed.has(messageId));
    },

    async recordReplyProgress(held, { status, content, steps }) {
      const written = [status, content, JSON.stringify(steps)];
      return (await run(progress, [...claimParameters(held), ...written])).length === 1;
    },

    async settleReply(held, { status, content, steps, sources, model, verdict, failure, note }) {
      const values = [
        ...claimParameters(held),
        status,
        content,
        JSON.stringify(steps),
        sources === null ? null : JSON.stringify(sources),
        model,
        failure ?? null,
        verdict === undefined ? null : JSON.stringify(verdict),
      ];
      const rows = await (note === undefined
        ? run(settle, values)
        : run(settleWithNote, [...values, ...auditValues(note)]));
      return rows.length === 1;
    },

    retryReply: async (held, { delayMs, failure }) =>
      (await run(letGo, [...claimParameters(held), 1, delayMs, failure])).length === 1,

    async releaseReply(held) {
      await run(letGo, [...claimParameters(held), 0, 0, null]);
    },

    async cancelReplies(organizationId, threadId) {
      const rows = await run<{ id: MessageId }>(cancel, [...time.parameters(), organizationId, threadId]);
      return rows.map(({ id }) => id);
    },

    async sweepReplies({ content, overdue, abandoned }, { attemptsMax, leases }) {
      const beforeMs = time.steady();
      const [found] = await run<{ at: number; found: boolean }>(anyToSweep, time.parameters());
      const { at } = found!;
      const reading = { time: at, beforeMs, afterMs: time.steady() };
      time.see(at);
      await run(keepTime, [at]);
      const jump = jumps.jumpAt(reading);
      if (jump !== undefined) await makeUpFor(jump, at);
      jumps.accept(reading);
      await letGoOfUnanswered();
      if (!found!.found) return [];
      // Not up to the clock's time: it may have jumped since the reading.
      const swept = [at, at, sweptMax];
      const failed = await run<FailedRow>(failOverdue, [...swept, content, overdue]);
      if (leases) {
        failed.push(...(await run<FailedRow>(failAbandoned, [...swept, content, abandoned, attemptsMax])));
        await run(letGoExpired, [...swept, attemptsMax]);
      }
      return failed.map(toFailedReply);
    },

    // No one can tell here which workers live: the leases of dead ones run out.
    releaseOrphanedReplies: async () => [],

    async endedReplies(replies) {
      if (replies.length === 0) return [];
      const places = await run<{ place: number }>(ended, columnsOf(replies));
      return places.map(({ place }) => replies[place - 1]!);
    },

    async replyBacklog() {
      const [row] = await run<{ waiting: number; held: number; oldest: number | null }>(
        backlog,
        time.parameters(),
      );
      const { waiting, held, oldest } = row!;
      return { waiting, held, oldestWaitingMs: oldest };
    },
  };
}

function toName({ organization_id, thread_id, id }: NameRow): ReplyName {
  return { organizationId: organization_id, threadId: thread_id, messageId: id };
}

function toFailedReply(row: FailedRow): FailedReply {
  return { ...toName(row), traceId: row.trace_id, failure: row.failure };
}

function toClaimedReply(row: ClaimedRow): ClaimedReply {
  return {
    ...toName(row),
    token: row.claim_token,
    accountId: row.account_id,
    traceId: row.trace_id,
    attempts: row.attempts,
    remainingMs: row.deadline_at - row.at,
  };
}
