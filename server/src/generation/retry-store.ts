import { setTimeout as pause } from 'node:timers/promises';

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
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    if (failures > 0) await pause(pauseMs(failures), undefined, { signal });
    try {
      return await call();
    } catch (error) {
      if (failures === 0) onFailure(error);
    }
  }
}

function pauseMs(failures: number): number {
  return Math.min(pauseMsMax, firstPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
