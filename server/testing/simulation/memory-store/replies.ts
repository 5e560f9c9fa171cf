import type { MessageId, OrganizationId } from '../../../src/domain/id.ts';
import { crashesOfSuspect, failedReplyContent, failureReasons } from '../../../src/domain/reply.ts';
import type { clockJump } from '../../../src/storage/port/clock-jumps.ts';
import type {
  FailedReply,
  Replies,
  ReplyClaim,
  ReplyName,
  ReplyQueue,
  SweptReplies,
} from '../../../src/storage/port/store.ts';
import type { Sync } from './sync.ts';
import { type ReplyRow, raiseVersion, type Tables, type ThreadRow } from './tables.ts';

/** A sweep as of a reading of the store's clock, by a node that has seen a jump and has claims without a response. */
interface Sweep {
  readonly at: number;
  readonly jump: ReturnType<typeof clockJump>;
  readonly unconfirmed: readonly number[];
  readonly leases: boolean;
}

type Transactions = Sync<Omit<Replies, 'claimReplies' | 'sweepReplies' | 'releaseOrphanedReplies'>> & {
  /** Every claim of one call has the same random token, which the node chose. */
  claimReplies(
    shares: Parameters<Replies['claimReplies']>[0],
    leaseMs: number,
    token: number,
    queue: ReplyQueue,
  ): Awaited<ReturnType<Replies['claimReplies']>>;
  readTime(): number;
  sweepReplies(sweep: Sweep): SweptReplies;
};

export function memoryReplies(tables: Tables): Transactions {
  const { clock, running } = tables;

  /** Undefined once the claim is lost or the reply has ended. */
  function claimed(claim: ReplyClaim): ReplyRow | undefined {
    const reply = tables.reply(claim);
    return reply?.held && reply.token === claim.token ? reply : undefined;
  }

  function due(queue: ReplyQueue, now: number): ReplyRow[] {
    return [...running.values()].filter(
      (reply) => !reply.held && reply.availableAt <= now && isSuspect(reply) === (queue === 'suspects'),
    );
  }

  function fail(reply: ReplyRow, failure: string, at: number): FailedReply {
    Object.assign(reply, { content: failedReplyContent, failure });
    end(tables, reply, 'failed', at);
    const { thread, id: messageId, threadId, traceId } = reply;
    return { organizationId: thread.organizationId, threadId, messageId, traceId, failure };
  }

  function makeUpFor(
    { jumpedMs, seenByOthersFrom, datedBefore }: NonNullable<Sweep['jump']>,
    at: number,
  ): void {
    if (tables.jumpAt >= seenByOthersFrom) return;
    tables.jumpAt = at;
    for (const reply of running.values()) {
      if (reply.createdAt >= datedBefore) continue;
      reply.availableAt += jumpedMs;
      reply.deadlineAt += jumpedMs;
    }
  }

  return {
    organizationsWaiting(after, limit, queue = 'usual') {
      const waiting = new Set(due(queue, clock.peek()).map(({ thread }) => thread.organizationId));
      const sorted = [...waiting].sort();
      const isLater = (id: OrganizationId) => after !== undefined && id > after;
      return [...sorted.filter(isLater), ...sorted.filter((id) => !isLater(id))].slice(0, limit);
    },

    claimReplies(shares, leaseMs, token, queue) {
      const now = clock.now();
      return shares.flatMap(({ organizationId, limit }) =>
        due(queue, now)
          .filter(({ thread, deadlineAt }) => thread.organizationId === organizationId && deadlineAt > now)
          .sort((a, b) => a.availableAt - b.availableAt || (a.id < b.id ? -1 : 1))
          .slice(0, limit)
          .map((reply) => {
            Object.assign(reply, { held: true, token, availableAt: now + leaseMs });
            const { id: messageId, threadId, thread, traceId, attempts, deadlineAt } = reply;
            const { accountId } = thread;
            const remainingMs = deadlineAt - now;
            return { organizationId, threadId, messageId, token, accountId, traceId, attempts, remainingMs };
          }),
      );
    },

    renewReplies(claims, leaseMs) {
      const availableAt = clock.now() + leaseMs;
      return claims.filter((claim) => {
        const reply = claimed(claim);
        if (reply !== undefined) reply.availableAt = availableAt;
        return reply === undefined;
      });
    },

    recordReplyProgress(claim, { status, content, steps }) {
      const reply = claimed(claim);
      if (reply === undefined) return false;
      Object.assign(reply, { status, content, steps: [...steps] });
      raiseVersion(reply.thread, clock.now());
      return true;
    },

    settleReply(claim, { status, content, steps, sources, model, verdict = null, failure = null, note }) {
      const reply = claimed(claim);
      if (reply === undefined) return false;
      Object.assign(reply, { content, steps: [...steps], sources, model, verdict, failure });
      const at = clock.now();
      end(tables, reply, status, at);
      if (note !== undefined) tables.note(claim.organizationId, note, at);
      return true;
    },

    releaseReply(claim, why) {
      const reply = claimed(claim);
      if (reply === undefined) return false;
      const { delayMs, failure } = typeof why === 'object' ? why : { delayMs: 0, failure: null };
      if (typeof why === 'object') reply.attempts += 1;
      if (why === 'crash') reply.crashes += 1;
      startOver(reply, { availableAt: clock.now() + delayMs, failure }, clock.now());
      return true;
    },

    cancelReplies(organizationId, threadId) {
      const thread = tables.thread(organizationId, threadId);
      return thread === undefined ? [] : cancelReplies(tables, thread, clock.now());
    },

    readTime: () => clock.peek(),

    sweepReplies({ at: until, jump, unconfirmed, leases }) {
      if (jump !== undefined) makeUpFor(jump, until);
      const failed: FailedReply[] = [];
      const crashed: ReplyName[] = [];
      for (const reply of [...running.values()]) {
        const { held, token, availableAt, deadlineAt } = reply;
        if (held && unconfirmed.includes(token)) {
          Object.assign(reply, { held: false, availableAt: clock.now() });
        } else if (deadlineAt <= until) {
          failed.push(fail(reply, failureReasons.overdue, clock.now()));
        } else if (leases && held && availableAt <= until) {
          const { thread, threadId, id: messageId } = reply;
          reply.crashes += 1;
          startOver(reply, { availableAt, failure: reply.failure }, clock.now());
          crashed.push({ organizationId: thread.organizationId, threadId, messageId });
        }
      }
      return { failed, crashed };
    },

    endedReplies: (replies) => replies.filter((reply) => tables.reply(reply) === undefined),

    replyBacklog() {
      const all = [...running.values()];
      const waiting = all.filter(({ held }) => !held).sort((a, b) => a.deadlineAt - b.deadlineAt);
      const oldestWaitingMs = waiting[0] === undefined ? null : clock.peek() - waiting[0].createdAt;
      const suspects = all.filter(isSuspect).length;
      return { waiting: waiting.length, held: all.length - waiting.length, oldestWaitingMs, suspects };
    },
  };
}

/** Ends the running reply of the thread and keeps its text so far. */
export function cancelReplies(tables: Tables, { messages }: ThreadRow, at: number): MessageId[] {
  const reply = tables.running.get(messages.at(-1)!.id);
  if (reply === undefined) return [];
  end(tables, reply, 'cancelled', at);
  return [reply.id];
}

function end(tables: Tables, reply: ReplyRow, status: ReplyRow['status'], at: number): void {
  Object.assign(reply, { status, held: false, completedAt: Math.max(at, reply.createdAt) });
  tables.running.delete(reply.id);
  raiseVersion(reply.thread, at);
}

function isSuspect({ crashes }: ReplyRow): boolean {
  return crashes >= crashesOfSuspect;
}

/** The reply waits and keeps nothing of its claim. */
function startOver(reply: ReplyRow, waiting: Pick<ReplyRow, 'availableAt' | 'failure'>, at: number): void {
  Object.assign(reply, { held: false, status: 'in_progress', content: '', steps: [], ...waiting });
  raiseVersion(reply.thread, at);
}
