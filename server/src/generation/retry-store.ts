import { machineTimers, type Timers } from '../usecases/timers.ts';

const firstPauseMs = 50;
const pauseMsMax = 2_000;

/**
 * Repeats a store call until it succeeds or the signal aborts: an unavailable store must not fail a reply. Only for calls
 * that may be repeated. Uses exponential backoff with jitter. `onFailure` is called for the first failure only.
 */
export async function retryStore<T>(
  call: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void = () => {},
  timers: Timers = machineTimers,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    if (failures > 0) await pause(pauseMs(failures, timers), signal, timers);
    try {
      return await call();
    } catch (error) {
      if (failures === 0) onFailure(error);
    }
  }
}

function pauseMs(failures: number, { random }: Timers): number {
  return Math.min(pauseMsMax, firstPauseMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}

/** Rejects if the signal aborts first. */
function pause(ms: number, signal: AbortSignal, timers: Timers): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      cancelTimer();
      reject(signal.reason);
    };
    const cancelTimer = timers.after(ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
