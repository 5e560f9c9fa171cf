import type { createLog } from '../compose.ts';
import { noteFailedSignIns } from '../usecases/people/attempt-password.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** A process that is killed loses the counts of this long. */
const keepEveryMs = 1000;

/**
 * Keeps what is counted of requests and of failed sign-ins, beside them: none waits for it. Answers how to stop, which keeps
 * the rest. While the store fails, the counts stay in memory.
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
      // Told once for as long as it lasts.
      if (!failing)
        log.error({ err: error }, 'counts of requests could not be kept; the next second tries again');
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
