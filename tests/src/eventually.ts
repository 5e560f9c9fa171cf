import { setTimeout as pause } from 'node:timers/promises';

/** Polls until the condition holds, and returns the value for which it does. Without a condition, the value must be true. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isEnough: (value: T) => boolean = Boolean,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await look();
    if (isEnough(value)) return value;
    if (Date.now() > deadline) {
      throw new Error(`gave up after ${withinMs} ms on ${look}; the last value: ${JSON.stringify(value)}`);
    }
    await pause(20);
  }
}
