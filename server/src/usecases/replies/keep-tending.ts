import type { Context } from '../context.ts';
import { LeaseWatch, tendReplies } from './tend-replies.ts';

/** How soon changes of other processes are noticed. */
const tendEveryMs = 200;
const clockEveryRounds = 25;

export interface Tending {
  /** The worker of this process, if it has one. */
  readonly worker: { renewIfLate(): Promise<void> } | undefined;
  readonly leaseMs: number;
  readonly log: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;
  /** Called every few seconds. */
  readonly watchClock?: () => Promise<void>;
}

/**
 * Tends replies a few times a second, in processes of every role, so that replies end by their deadline even if no worker
 * is left. Returns a function that stops it.
 */
export function keepTending(context: Context, tending: Tending): () => Promise<void> {
  const { worker, leaseMs, log, watchClock } = tending;
  const leaseWatch = new LeaseWatch(leaseMs, context.timers.steadyMs);
  let round = 0;
  let failing = false;
  let running: Promise<void> | undefined;
  const tendOnce = async () => {
    try {
      await worker?.renewIfLate();
      const failed = await tendReplies(context, round, leaseWatch.mayEndLeases());
      for (const { failure, traceId, threadId, messageId, organizationId } of failed) {
        const name = {
          trace_id: traceId,
          thread: threadId,
          message: messageId,
          organization: organizationId,
        };
        log.warn({ failure, ...name }, 'reply failed');
      }
      if (round % clockEveryRounds === 0) await watchClock?.();
      if (failing) log.info({}, 'the store answers again');
      failing = false;
      leaseWatch.roundEnded(true);
    } catch (error) {
      leaseWatch.roundEnded(false);
      // Logged once per outage, not five times a second.
      if (!failing) log.error({ err: error }, 'could not process reply deadlines and leases; retrying');
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
