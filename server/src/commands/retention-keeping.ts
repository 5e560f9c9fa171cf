import { setTimeout as pause } from 'node:timers/promises';
import type { createLog } from '../compose.ts';
import { enforceRetention } from '../usecases/organization/retention.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** Expired data is removed within about this time. */
const passEveryMs = 60_000;
/** Limits removal to 10,000 rows a second, so that requests are not delayed. */
const pauseMs = 50;

/** Enforces retention now and every minute. Returns a function that stops it. */
export function keepRetention(
  context: SurfaceContext,
  log: ReturnType<typeof createLog>,
): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const wait = (ms: number) => pause(ms, undefined, { signal, ref: false }).catch(() => {});

  async function pass(): Promise<void> {
    const removed: Record<string, number> = {};
    await enforceRetention(context, async (kind, count) => {
      if (count > 0) removed[kind] = (removed[kind] ?? 0) + count;
      await wait(count > 0 ? pauseMs : 0);
      return !signal.aborted;
    });
    if (Object.keys(removed).length > 0)
      log.info({ removed }, 'removed data older than the retention settings allow');
  }

  async function keep(): Promise<void> {
    let failing = false;
    while (!signal.aborted) {
      try {
        await pass();
        failing = false;
      } catch (error) {
        // Logged once per outage.
        if (!failing) log.error({ err: error }, 'retention failed; retrying in a minute');
        failing = true;
      }
      await wait(passEveryMs);
    }
  }

  const running = keep();
  return () => {
    stopped.abort();
    return running;
  };
}
