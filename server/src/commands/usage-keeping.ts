import type { createLog } from '../compose.ts';
import { noteFailedSignIns } from '../usecases/people/attempt-password.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** A killed process loses the counts of at most this long. */
const keepEveryMs = 1000;

/**
 * Stores the counts of requests and of failed sign-ins in the background. Returns a function that stops it and stores the
 * rest. While the store fails, the counts stay in memory.
 */
export function keepUsage(context: SurfaceContext, log: ReturnType<typeof createLog>): () => Promise<void> {
  let failing = false;
  let running: Promise<void> | undefined;
  const keepOnce = async (isLast = false) => {
    try {
      await context.usage.flush(context.store);
      await noteFailedSignIns(context, isLast);
      failing = false;
    } catch (error) {
      // Logged once per outage.
      if (!failing) log.error({ err: error }, 'could not store request counts; retrying in a second');
      failing = true;
    }
  };
  const timer = setInterval(() => {
    running ??= keepOnce().finally(() => {
      running = undefined;
    });
  }, keepEveryMs);
  return async () => {
    clearInterval(timer);
    await running;
    await keepOnce(true);
  };
}
