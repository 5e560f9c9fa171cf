import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import { type ClockJump, ClockJumps } from '../clock-jumps.ts';
import { countedMax, isRunning, startOver, sweptMax } from '../sql/messages.ts';
import type { ClaimedReply, FailedReply, FailureTexts, Replies, ReplyClaim, ReplyName } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { prepareRaiseVersion } from './thread-row.ts';
import { auditWriter } from './transactions.ts';
import type { WorkerLock } from './worker-lock.ts';

interface WaitingRow extends Omit<ClaimedReply, 'organizationId' | 'remainingMs'> {
  readonly deadlineAt: number;
}

/** Every write of a worker names its claim. It changes nothing after another claim or after the end of the reply. */
const whereClaimHolds = `WHERE organization_id = @organizationId AND thread_id = @threadId AND id = @messageId
  AND claim_token = @token AND held = 1 AND ${isRunning}`;

const failing = `UPDATE message SET held = 0, status = 'failed', content = @content, failure = @failure,
  completed_at = @at WHERE ${isRunning}`;
const nameColumns = 'organization_id AS organizationId, thread_id AS threadId, id AS messageId';
const failedColumns = `${nameColumns}, trace_id AS traceId, failure`;

interface FailParameters {
  readonly content: string;
  readonly failure: string;
  readonly at: number;
  /** Leases and deadlines up to this time have ended. */
  readonly until: number;
  readonly limit: number;
}

export function sqliteReplies(database: Database, commits: CommitQueue, workerLock: WorkerLock): Replies {
  // A skip scan: one search per organization with waiting replies, however many they are.
  const nextWaiting = database
    .prepare<[object], OrganizationId>(
      `SELECT organization_id FROM message INDEXED BY message_waiting
       WHERE held = 0 AND ${isRunning} AND organization_id > @after ORDER BY organization_id LIMIT 1`,
    )
    .pluck();
  const isDue = database.prepare(
    `SELECT 1 FROM message INDEXED BY message_waiting
     WHERE held = 0 AND ${isRunning} AND organization_id = @organizationId AND available_at <= @now LIMIT 1`,
  );
  // `+ 0` as in walks.ts: with a bare parameter the query would be compiled again at every call.
  const due = database.prepare<[object], WaitingRow>(
    `SELECT thread_id AS threadId, reply.id AS messageId, claim_token + 1 AS token, attempts,
       deadline_at AS deadlineAt, trace_id AS traceId, account_id AS accountId
     FROM message AS reply INDEXED BY message_waiting
     JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
     WHERE held = 0 AND ${isRunning} AND reply.organization_id = @organizationId AND available_at <= @now
       AND deadline_at > @now
     ORDER BY available_at, reply.id LIMIT @limit + 0`,
  );
  const claim = database.prepare(
    `UPDATE message SET held = 1, claim_token = claim_token + 1, available_at = @availableAt
     WHERE organization_id = @organizationId AND thread_id = @threadId AND id = @messageId`,
  );
  const renew = database.prepare(`UPDATE message SET available_at = @availableAt ${whereClaimHolds}`);
  const progress = database.prepare(
    `UPDATE message SET status = @status, content = @content, steps = @steps ${whereClaimHolds}`,
  );
  const settle = database.prepare(
    `UPDATE message SET held = 0, status = @status, content = @content, steps = @steps, sources = @sources,
       verdict = @verdict, model = @model, failure = @failure, completed_at = @completedAt,
       unanswered_at = @unansweredAt ${whereClaimHolds}`,
  );
  const letGo = database.prepare(
    `UPDATE message SET held = 0, attempts = attempts + @attempts, available_at = @availableAt,
       failure = @failure, ${startOver} ${whereClaimHolds}`,
  );
  const anyExpired = database.prepare(
    `SELECT 1 FROM message INDEXED BY message_held WHERE held = 1 AND ${isRunning} AND available_at <= @time LIMIT 1`,
  );
  const expired = (condition: string) => `(organization_id, thread_id, id) IN (
    SELECT organization_id, thread_id, id FROM message INDEXED BY message_held
    WHERE held = 1 AND ${isRunning} AND available_at <= @until AND ${condition} LIMIT @limit + 0)`;
  const failAbandoned = database.prepare<[FailParameters & { attemptsMax: number }], FailedReply>(
    `${failing} AND ${expired('attempts + 1 >= @attemptsMax')} RETURNING ${failedColumns}`,
  );
  const letGoExpired = database.prepare<
    [Omit<FailParameters, 'content' | 'failure'> & { attemptsMax: number }],
    ReplyName
  >(
    `UPDATE message SET held = 0, attempts = attempts + 1, available_at = min(available_at, @at), ${startOver}
     WHERE ${expired('attempts + 1 < @attemptsMax')} RETURNING ${nameColumns}`,
  );
  const anyOverdue = database.prepare(
    `SELECT 1 FROM message INDEXED BY message_deadline WHERE ${isRunning} AND deadline_at <= @time LIMIT 1`,
  );
  const failOverdue = database.prepare<[FailParameters], FailedReply>(
    `${failing} AND (organization_id, thread_id, id) IN (
       SELECT organization_id, thread_id, id FROM message INDEXED BY message_deadline
       WHERE ${isRunning} AND deadline_at <= @until LIMIT @limit + 0)
     RETURNING ${failedColumns}`,
  );
  const recordJump = database.prepare(
    'UPDATE store_clock SET jump_at = @time WHERE jump_at < @seenByOthersFrom',
  );
  const moveTimes = database.prepare(
    `UPDATE message INDEXED BY message_deadline
     SET available_at = available_at + @jumpedMs, deadline_at = deadline_at + @jumpedMs
     WHERE ${isRunning} AND created_at < @datedBefore`,
  );
  const jumps = new ClockJumps(commits.read());
  const cancel = prepareCancelReplies(database);
  const raiseVersion = prepareRaiseVersion(database);
  const writeNote = auditWriter(database);
  const stillRuns = database.prepare(
    `SELECT 1 FROM message
     WHERE organization_id = @organizationId AND thread_id = @threadId AND id = @messageId AND ${isRunning}`,
  );

  const backlog = database.prepare<[object], { waiting: number; held: number; oldest: number | null }>(
    `SELECT
       (SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_waiting
         WHERE held = 0 AND ${isRunning} LIMIT ${countedMax})) AS waiting,
       (SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_held
         WHERE held = 1 AND ${isRunning} LIMIT ${countedMax})) AS held,
       (SELECT @now - created_at FROM (SELECT created_at, held FROM message INDEXED BY message_deadline
         WHERE ${isRunning} ORDER BY deadline_at LIMIT ${countedMax}) WHERE held = 0 LIMIT 1) AS oldest`,
  );

  function* waitingAfter(after: string, now: number): Generator<OrganizationId> {
    let organizationId = nextWaiting.get({ after });
    while (organizationId !== undefined) {
      if (isDue.get({ organizationId, now }) !== undefined) yield organizationId;
      organizationId = nextWaiting.get({ after: organizationId });
    }
  }

  function raiseVersions(changed: readonly ReplyName[], now: number): void {
    for (const { organizationId, threadId } of changed) raiseVersion(organizationId, threadId, now);
  }

  /** Returns whether the claim was still valid and the change was written. To be called in a transaction. */
  function change(
    statement: typeof progress,
    { organizationId, threadId, messageId, token }: ReplyClaim,
    written: object,
    now: number,
  ): boolean {
    const changed = statement.run({ organizationId, threadId, messageId, token, ...written }).changes === 1;
    if (changed) raiseVersion(organizationId, threadId, now);
    return changed;
  }

  /** To be called in a transaction. */
  function endLeases(
    { content, abandoned: failure }: FailureTexts,
    attemptsMax: number,
    swept: Pick<FailParameters, 'at' | 'until' | 'limit'>,
  ): FailedReply[] {
    const failed = failAbandoned.all({ content, failure, attemptsMax, ...swept });
    raiseVersions(letGoExpired.all({ attemptsMax, ...swept }), swept.at);
    raiseVersions(failed, swept.at);
    return failed;
  }

  async function makeUpFor({ jumpedMs, seenByOthersFrom, datedBefore }: ClockJump, time: number) {
    await commits.durable(() => {
      const isFirst = recordJump.run({ time, seenByOthersFrom }).changes === 1;
      if (isFirst) moveTimes.run({ jumpedMs, datedBefore });
    });
  }

  return {
    async organizationsWaiting(after = '' as OrganizationId, limit) {
      const now = commits.now();
      const found: OrganizationId[] = [];
      for (const start of after === '' ? [''] : [after, '']) {
        for (const organization of waitingAfter(start, now)) {
          // The second round ends where the first one started.
          if (found.length === limit || (start === '' && after !== '' && organization > after)) return found;
          found.push(organization);
        }
      }
      return found;
    },

    // Claims, renewals and progress need no sync: a reply that loses them to a power cut starts over.
    claimReplies: (shares, leaseMs) =>
      commits.unsynced((clock) => {
        const now = clock.now();
        return shares.flatMap(({ organizationId, limit }) =>
          due.all({ organizationId, now, limit }).map(({ deadlineAt, ...reply }) => {
            const { threadId, messageId } = reply;
            claim.run({ organizationId, threadId, messageId, availableAt: now + leaseMs });
            return { organizationId, ...reply, remainingMs: deadlineAt - now };
          }),
        );
      }),

    renewReplies: (claims, leaseMs) =>
      commits.unsynced((clock) => {
        const availableAt = clock.now() + leaseMs;
        return claims.filter(
          ({ organizationId, threadId, messageId, token }) =>
            renew.run({ organizationId, threadId, messageId, token, availableAt }).changes === 0,
        );
      }),

    recordReplyProgress: (held, { status, content, steps }) =>
      commits.unsynced((clock) =>
        change(progress, held, { status, content, steps: JSON.stringify(steps) }, clock.now()),
      ),

    settleReply: (held, { status, content, steps, sources, model, verdict, unanswered, failure, note }) =>
      commits.durable((clock) => {
        const written = {
          status,
          content,
          steps: JSON.stringify(steps),
          sources: sources === null ? null : JSON.stringify(sources),
          model,
          verdict: verdict === undefined ? null : JSON.stringify(verdict),
          failure: failure ?? null,
          completedAt: clock.now(),
          unansweredAt: unanswered ? clock.now() : null,
        };
        const settled = change(settle, held, written, clock.now());
        if (settled && note) writeNote(held.organizationId, note, clock.now());
        return settled;
      }),

    retryReply: (held, { delayMs, failure }) =>
      commits.durable((clock) => {
        const waits = { attempts: 1, availableAt: clock.now() + delayMs, failure };
        return change(letGo, held, waits, clock.now());
      }),

    releaseReply: (held) =>
      commits.durable((clock) => {
        const waits = { attempts: 0, availableAt: clock.now(), failure: null };
        change(letGo, held, waits, clock.now());
      }),

    cancelReplies: (organizationId, threadId) =>
      commits.durable((clock) => {
        const cancelled = cancel(organizationId, threadId, clock.now());
        if (cancelled.length > 0) raiseVersion(organizationId, threadId, clock.now());
        return cancelled;
      }),

    async sweepReplies(texts, { attemptsMax, leases }) {
      const reading = commits.read();
      const { time } = reading;
      const jump = jumps.jumpAt(reading);
      if (jump !== undefined) await makeUpFor(jump, time);
      jumps.accept(reading);
      // Read first, because usually there is nothing to write.
      const expired = leases && anyExpired.get({ time }) !== undefined;
      if (!expired && anyOverdue.get({ time }) === undefined) return [];
      return commits.durable((clock) => {
        // Not up to `clock.now()`: the clock may have jumped since the reading.
        const swept = { at: clock.now(), until: time, limit: sweptMax };
        const { content, overdue: failure } = texts;
        const overdue = failOverdue.all({ content, failure, ...swept });
        raiseVersions(overdue, swept.at);
        return leases ? [...overdue, ...endLeases(texts, attemptsMax, swept)] : overdue;
      });
    },

    async releaseOrphanedReplies(texts, attemptsMax) {
      let failed: FailedReply[] = [];
      await workerLock.join(async () => {
        failed = await commits.durable((clock) => {
          const all = { at: clock.now(), until: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };
          return endLeases(texts, attemptsMax, all);
        });
      });
      return failed;
    },

    // Other processes on the same file poll five times a second.
    async sendNotice() {},
    onNotice() {},

    endedReplies: async (replies) =>
      replies.filter(
        ({ organizationId, threadId, messageId }) =>
          stillRuns.get({ organizationId, threadId, messageId }) === undefined,
      ),

    async replyBacklog() {
      const { oldest, ...counts } = backlog.get({ now: commits.now() })!;
      return { ...counts, oldestWaitingMs: oldest };
    },
  };
}

/** To be called in a transaction. Returns the replies that it ended. */
export function prepareCancelReplies(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, now: number) => MessageId[] {
  const cancel = database
    .prepare<[object], MessageId>(
      `UPDATE message INDEXED BY message_running SET held = 0, status = 'cancelled', completed_at = @now
       WHERE organization_id = @organizationId AND thread_id = @threadId AND ${isRunning} RETURNING id`,
    )
    .pluck();
  return (organizationId, threadId, now) => cancel.all({ organizationId, threadId, now });
}
