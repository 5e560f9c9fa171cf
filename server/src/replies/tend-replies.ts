import type { OwnAuthority } from '../domain/authority.ts';
import type { Log } from '../domain/telemetry.ts';
import type { AuditNote, FailedReply, ReplyName, ReplyNotice, SweptReplies } from '../storage/port/store.ts';
import type { Context } from '../usecases/context.ts';
import { auditNote } from '../usecases/organization/audit-log.ts';

/** Above this many watched replies, each round checks a quarter of them. */
const checkedAtOnceMax = 1000;
const parts = 4;

/** A reason is one sentence; this bounds what a provider may send. */
const reasonLengthMax = 500;

/**
 * Handles what no signal of this process reports: deadlines, leases of dead workers, and replies that other processes
 * ended. `leases`: whether to end expired leases (see `leaseWatch`).
 */
export async function tendReplies(context: Context, round: number, leases = true): Promise<SweptReplies> {
  const { store, replySignals } = context;
  const swept = await store.sweepReplies({ leases });
  await reportFailed(context, swept.failed);
  const checked = partOf(replySignals.watched(), round);
  const ended = checked.length === 0 ? [] : await store.endedReplies(checked);
  replySignals.receive({ waiting: true, ended });
  return swept;
}

/** A worker calls this before its first claim. */
export async function releaseOrphanedReplies(context: Context, log: Log): Promise<void> {
  reportCrashed(context, log, await context.store.releaseOrphanedReplies());
}

/** Writes audit notes one by one: there are rarely many. If a write fails, the caller's log still has the failure. */
async function reportFailed(context: Context, failed: readonly FailedReply[]): Promise<void> {
  reportEnded(context, 'failed', failed);
  for (const reply of failed) {
    const note = replyFailedNote(context, reply, reply.failure);
    await context.store.writeAudit(reply.organizationId, note).catch(() => {});
  }
}

/** Notifies those who wait for replies that no worker of this process has ended, and counts the replies. */
export function reportEnded(
  { replySignals, telemetry }: Pick<Context, 'replySignals' | 'telemetry'>,
  outcome: 'cancelled' | 'failed',
  replies: readonly ReplyName[],
): void {
  for (const reply of replies) {
    replySignals.replyEnded(reply);
    telemetry.replyEnded(outcome, reply.organizationId);
  }
}

/** Has the trace ID of the request that created the reply: the person who sent it can quote that id. */
export function replyFailedNote(
  context: Pick<Context, 'ids'>,
  { threadId, messageId, traceId }: Pick<FailedReply, 'threadId' | 'messageId' | 'traceId'>,
  failure: string,
): AuditNote<OwnAuthority> {
  const reason = failure.slice(0, reasonLengthMax).toWellFormed();
  const initiator = { authority: { kind: 'skein' }, traceId } as const;
  return auditNote({ context, initiator }, 'reply.failed', threadId, { reason, message: messageId });
}

/** After a longer gap between two rounds, an outage may have gone unnoticed. */
const gapMsMin = 2_000;

/**
 * Decides when an expired lease belongs to a dead worker. While the store is unavailable no worker can renew its leases,
 * and that is no crash. So leases are ended only after the store has answered this process for one
 * lease period without interruption: by then every live worker has renewed.
 */
export function leaseWatch(leaseMs: number, clock: () => number) {
  const gapMs = Math.max(gapMsMin, leaseMs / 2);
  let answersSince = 0;
  let lastAnswer: number | undefined;
  const breakIfLate = () => {
    const now = clock();
    if (lastAnswer === undefined || now - lastAnswer > gapMs) answersSince = now;
    return now;
  };
  return {
    mayEndLeases: () => breakIfLate() - answersSince >= leaseMs,
    roundEnded(succeeded: boolean): void {
      const now = breakIfLate();
      lastAnswer = succeeded ? now : undefined;
    },
  };
}

function partOf(watched: readonly ReplyName[], round: number): readonly ReplyName[] {
  if (watched.length <= checkedAtOnceMax) return watched;
  return watched.filter(
    ({ messageId }) => messageId.charCodeAt(messageId.length - 1) % parts === round % parts,
  );
}

/** How soon changes of other processes are noticed. */
const tendEveryMs = 200;

export function replyForLog({ traceId, threadId, messageId, organizationId }: Omit<FailedReply, 'failure'>) {
  return { trace_id: traceId, thread: threadId, message: messageId, organization: organizationId };
}

function logFailed(log: Log, failed: readonly FailedReply[]): void {
  for (const reply of failed) log.warn({ failure: reply.failure, ...replyForLog(reply) }, 'reply failed');
}

/** In one line: a process may write hundreds of replies. */
function reportCrashed({ telemetry }: Pick<Context, 'telemetry'>, log: Log, crashed: readonly ReplyName[]) {
  if (crashed.length === 0) return;
  telemetry.repliesCrashed(crashed.length);
  log.warn({ replies: crashed.length }, 'worker process ended or stalled, restarting its replies');
}

interface Tending {
  readonly worker: { renewIfLate(): Promise<void> } | undefined;
  readonly leaseMs: number;
  readonly log: Log;
}

/** In processes of every role, so that replies end by their deadline even without a worker. Returns how to stop it. */
export function keepTending(context: Context, { worker, leaseMs, log }: Tending): () => Promise<void> {
  const leases = leaseWatch(leaseMs, context.timers.steadyMs);
  let round = 0;
  let failing = false;
  let running: Promise<void> | undefined;
  const tendOnce = async () => {
    try {
      await worker?.renewIfLate();
      const { failed, crashed } = await tendReplies(context, round, leases.mayEndLeases());
      logFailed(log, failed);
      reportCrashed(context, log, crashed);
      if (failing) log.info({}, 'store is responding again');
      failing = false;
      leases.roundEnded(true);
    } catch (error) {
      leases.roundEnded(false);
      // Logged once per outage, not five times a second.
      if (!failing) log.error({ err: error }, 'failed to process reply deadlines and leases, retrying');
      failing = true;
    }
  };
  const stop = context.timers.every(tendEveryMs, () => {
    running ??= tendOnce().finally(() => {
      running = undefined;
      round += 1;
    });
  });
  return async () => {
    stop();
    await running;
  };
}

/** Batches notices, so that a node under load sends fifty a second, not thousands. */
const gatherMs = 20;

/** Passes the signals of this process to the other nodes, and theirs to this one. Returns a function that stops it. */
export function relaySignals({ store, replySignals, timers }: Context): () => Promise<void> {
  let ended: ReplyName[] = [];
  let waiting = false;
  let cancelDue: (() => void) | undefined;
  let sending: Promise<void> = Promise.resolve();

  function sendNow(): void {
    const notice: ReplyNotice = { waiting, ended };
    ended = [];
    waiting = false;
    cancelDue = undefined;
    // The next poll makes up for a lost notice.
    sending = store.sendNotice(notice).catch(() => {});
  }

  replySignals.publish = (notice) => {
    waiting ||= notice.waiting;
    ended.push(...notice.ended);
    cancelDue ??= timers.after(gatherMs, sendNow);
  };
  store.onNotice((notice) => replySignals.receive(notice));

  return async () => {
    replySignals.publish = () => {};
    if (cancelDue !== undefined) {
      cancelDue();
      sendNow();
    }
    await sending;
  };
}
