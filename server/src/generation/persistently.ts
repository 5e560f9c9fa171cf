import { ModelError } from './model.ts';

const pausesMs = [50, 200, 800];

/**
 * Asks the store again where a connection to it broke: that is no fault of the reply, and what the model said is still in
 * hand. Only for what may be asked twice. If it does not help, the attempt has failed in a way that may pass.
 */
export async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return ask().catch((error: Error) => {
    throw new ModelError(`The store did not answer: ${error.message}`, { transient: true });
  });
}
