import { createWakeup, machineTimers, type Timers } from './timers.ts';

const firstPauseMs = 50;
const pauseMsMax = 2_000;

/**
 * Repeats a call until it succeeds or the signal aborts. Only for calls that may be repeated. Uses exponential backoff with jitter. `onFailure` is called for the first failure only.
 */
export async function retryUntilAborted<T>(
  call: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void = () => {},
  timers: Timers = machineTimers,
): Promise<T> {
  const { pause } = createWakeup(signal, timers);
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (failures === 0) onFailure(error);
    }
    await pause(Math.min(pauseMsMax, firstPauseMs * 2 ** failures) * (0.5 + timers.random() / 2));
    signal.throwIfAborted();
  }
}
