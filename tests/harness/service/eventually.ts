import { setTimeout as pause } from 'node:timers/promises';

const pauseMsMin = 20;
const pauseMsMax = 100;

/** The most that tests wait for what usually takes a moment: a machine may get a tenth of its processor time. */
export const waitMsMax = 120_000;

/**
 * Polls until the condition holds, and returns the value that meets it. Without a condition, the value must be true.
 * The longer it takes, the longer are the pauses, because polling takes processor time from what the test waits for.
 */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isEnough: (value: T) => boolean = Boolean,
  withinMs = waitMsMax,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const value = await look();
    if (isEnough(value)) return value;
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > withinMs) {
      throw new Error(`gave up after ${withinMs} ms on ${look}; the last value: ${JSON.stringify(value)}`);
    }
    await pause(Math.min(pauseMsMin + waitedMs / 10, pauseMsMax));
  }
}
