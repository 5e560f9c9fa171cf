import { setTimeout as pause } from 'node:timers/promises';
import type { createLog } from '../compose.ts';
import { enforceRetention } from '../usecases/organization/retention.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** What is due is removed about this long after it became so. */
const passEveryMs = 60_000;
/** A long backlog is removed at 10,000 rows a second at most, so that requests always find room in between. */
const pauseMs = 50;

/** Removes what is too old, now and every minute, beside the requests. Answers how to stop. */
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
      log.info({ removed }, 'removed what was older than the retention allows');
  }

  async function keep(): Promise<void> {
    let failing = false;
    while (!signal.aborted) {
      try {
        await pass();
        failing = false;
      } catch (error) {
        // Logged once for as long as it lasts.
        if (!failing) log.error({ err: error }, 'retention failed; it is tried again in a minute');
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
