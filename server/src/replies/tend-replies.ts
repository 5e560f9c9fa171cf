import type { Timers } from '../../../runtime/src/timers.ts';
import type { IdGenerator } from '../domain/id.ts';
import type { Log, Telemetry } from '../domain/telemetry.ts';
import type { Audits, FailedReply, Replies, ReplyName, SweptReplies } from '../storage/port/store.ts';
import type { ReplySignals } from './reply-signals.ts';
import { replyFailedNote, replyForLog, reportCrashed, reportEnded } from './report-replies.ts';

interface SweepNeeds {
  readonly store: Pick<Replies, 'sweepReplies' | 'endedReplies'> & Pick<Audits, 'writeAudit'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly replySignals: ReplySignals;
  readonly telemetry: Pick<Telemetry, 'replyEnded'>;
}

/** Above this many watched replies, each round checks a quarter of them. */
const checkedAtOnceMax = 1000;
const parts = 4;

/**
 * Handles what no signal of this process reports: deadlines, leases of dead workers, and replies that other processes
 * ended. `leases`: whether to end expired leases (see `leaseWatch`).
 */
export async function tendReplies(needs: SweepNeeds, round: number, leases = true): Promise<SweptReplies> {
  const { store, replySignals } = needs;
  const swept = await store.sweepReplies({ leases });
  await reportFailed(needs, swept.failed);
  const checked = selectPart(replySignals.watched(), round);
  const ended = checked.length === 0 ? [] : await store.endedReplies(checked);
  replySignals.receive({ waiting: true, ended });
  return swept;
}

/** Writes audit notes one by one: there are rarely many. If a write fails, the caller's log still has the failure. */
async function reportFailed(needs: SweepNeeds, failed: readonly FailedReply[]): Promise<void> {
  reportEnded(needs, 'failed', failed);
  for (const reply of failed) {
    const note = replyFailedNote(needs.ids, reply, reply.failure);
    await needs.store.writeAudit(reply.organizationId, note).catch(() => {});
  }
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

function selectPart(watched: readonly ReplyName[], round: number): readonly ReplyName[] {
  if (watched.length <= checkedAtOnceMax) return watched;
  return watched.filter(
    ({ messageId }) => messageId.charCodeAt(messageId.length - 1) % parts === round % parts,
  );
}

/** How soon changes of other processes are noticed. */
const tendEveryMs = 200;

function logFailed(log: Log, failed: readonly FailedReply[]): void {
  for (const reply of failed) log.warn({ failure: reply.failure, ...replyForLog(reply) }, 'reply failed');
}

interface TendingNeeds extends SweepNeeds {
  readonly telemetry: Pick<Telemetry, 'replyEnded' | 'repliesCrashed'>;
  readonly timers: Pick<Timers, 'every' | 'steadyMs'>;
  readonly log: Log;
}

/** In processes of every role, so that replies end by their deadline even without a worker. Returns how to stop it. */
export function keepTending(
  needs: TendingNeeds,
  leaseMs: number,
  worker?: { renewIfLate(): Promise<void> },
): () => Promise<void> {
  const { timers, log } = needs;
  const leases = leaseWatch(leaseMs, timers.steadyMs);
  let round = 0;
  let failing = false;
  let running: Promise<void> | undefined;
  const tendOnce = async () => {
    try {
      await worker?.renewIfLate();
      const { failed, crashed } = await tendReplies(needs, round, leases.mayEndLeases());
      logFailed(log, failed);
      reportCrashed(needs, crashed);
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
  const stop = timers.every(tendEveryMs, () => {
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
