import { setTimeout as pause } from 'node:timers/promises';

/** Usually takes milliseconds. The limit is for a busy machine, and shorter than the time that a silent model has. */
const waitMsMax = 15_000;

/** Polls until the condition holds, and returns the value that meets it: by default, one that is true. */
export async function until<T>(
  read: () => T | Promise<T>,
  condition: (value: T) => boolean = Boolean,
): Promise<T> {
  const deadline = Date.now() + waitMsMax;
  for (;;) {
    const value = await read();
    if (condition(value)) return value;
    if (Date.now() > deadline)
      throw new Error(`gave up on ${read}; the last value: ${JSON.stringify(value)}`);
    await pause(5);
  }
}
