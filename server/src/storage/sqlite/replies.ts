import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { ClaimedReply, Replies, ReplyClaim } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface DueRow {
  organization_id: OrganizationId;
  thread_id: ThreadId;
  id: MessageId;
  claim_token: number;
  attempts: number;
  deadline_at: number;
  trace_id: string;
  account_id: string | null;
  prompt: string;
}

/** Every write of a worker names its claim: one that was overtaken, or came after the end, changes nothing. */
const whereClaimHolds = `WHERE organization_id = @organizationId AND thread_id = @threadId AND id = @messageId
  AND claim_token = @token AND status IN ('in_progress', 'corroborating')`;

export function sqliteReplies(database: Database, commits: CommitQueue): Replies {
  // `+ 0` as in walk-queries.ts: with the parameter alone the query would be compiled at every call.
  const due = database.prepare<[number, number], DueRow>(
    `SELECT reply.organization_id, reply.thread_id, reply.id, reply.claim_token, reply.attempts,
       reply.deadline_at, reply.trace_id, thread.account_id,
       (SELECT content FROM message AS asked
        WHERE asked.organization_id = reply.organization_id AND asked.thread_id = reply.thread_id
          AND asked.id < reply.id AND asked.role = 'user' ORDER BY asked.id DESC LIMIT 1) AS prompt
     FROM message AS reply INDEXED BY message_due
     JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
     WHERE reply.status IN ('in_progress', 'corroborating') AND reply.available_at <= ?
     ORDER BY reply.available_at LIMIT ? + 0`,
  );
  const claim = database.prepare<[number, string, string, string]>(
    `UPDATE message SET claim_token = claim_token + 1, available_at = ?, status = 'in_progress', content = '',
       steps = '[]' WHERE organization_id = ? AND thread_id = ? AND id = ?`,
  );
  const progress = database.prepare(
    `UPDATE message SET status = @status, content = @content, steps = @steps, available_at = @availableAt
     ${whereClaimHolds}`,
  );
  const settle = database.prepare(
    `UPDATE message SET status = @status, content = @content, steps = @steps, sources = @sources, model = @model,
       failure = @failure, completed_at = @completedAt ${whereClaimHolds}`,
  );
  const release = database.prepare(`UPDATE message SET available_at = @now ${whereClaimHolds}`);

  return {
    // Claims and progress need no sync: whoever loses them to a power cut begins the reply anew.
    claimReplies: (limit, leaseMs) =>
      commits.unsynced((clock) =>
        due.all(clock.now(), limit).map((row) => {
          claim.run(clock.now() + leaseMs, row.organization_id, row.thread_id, row.id);
          return toClaimedReply(row);
        }),
      ),

    recordReplyProgress: (held, { status, content, steps, leaseMs }) =>
      commits.unsynced((clock) => {
        const availableAt = clock.now() + leaseMs;
        const written = { status, content, steps: JSON.stringify(steps), availableAt };
        return progress.run({ ...names(held), ...written }).changes === 1;
      }),

    settleReply: (held, { status, content, steps, sources, model, failure }) =>
      commits.durable((clock) => {
        const written = {
          status,
          content,
          steps: JSON.stringify(steps),
          sources: sources === null ? null : JSON.stringify(sources),
          model,
          failure: failure ?? null,
          completedAt: clock.now(),
        };
        return settle.run({ ...names(held), ...written }).changes === 1;
      }),

    releaseReply: (held) =>
      commits.durable((clock) => {
        release.run({ ...names(held), now: clock.now() });
      }),
  };
}

function names({ organizationId, threadId, messageId, token }: ReplyClaim) {
  return { organizationId, threadId, messageId, token };
}

function toClaimedReply(row: DueRow): ClaimedReply {
  return {
    organizationId: row.organization_id,
    threadId: row.thread_id,
    messageId: row.id,
    token: row.claim_token + 1,
    prompt: row.prompt,
    accountId: row.account_id,
    traceId: row.trace_id,
    attempts: row.attempts,
    deadlineAt: row.deadline_at,
  };
}
