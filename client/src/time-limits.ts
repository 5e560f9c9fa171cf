import { AbortedError, TimeoutError } from './errors.ts';

export interface Limits {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** Runtimes fire a timer at once if its delay is longer. */
const timerMsMax = 2 ** 31 - 1;

/**
 * Runs an action until it ends, the caller aborts or the time is up. `actionName` is shown in the error. The signal that
 * the action gets is aborted with the same error. An action that ignores its signal is not awaited.
 */
export async function withTimeLimit<T>(
  { signal, timeoutMs }: Limits,
  actionName: string,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!(timeoutMs >= 0)) throw new TypeError('timeoutMs must be a number of at least 0.');
  const controller = new AbortController();
  const abort = () => controller.abort(abortError(actionName, signal?.reason));
  if (signal?.aborted) abort();
  controller.signal.throwIfAborted();
  // Not `AbortSignal.any`: a signal that outlives many calls would keep references to all of them.
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () =>
      controller.abort(
        new TimeoutError(`${actionName} timed out after ${timeoutMs} ms.`, { code: 'TIMEOUT' }),
      ),
    Math.min(timeoutMs, timerMsMax),
  );
  try {
    return await Promise.race([action(controller.signal), rejectWhenAborted(controller.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** For races: never resolves. The listener stays on the signal, so the signal must not outlive the call. */
export function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** A nested call passes on the error of the call around it. */
function abortError(actionName: string, reason: unknown): unknown {
  if (reason instanceof AbortedError || reason instanceof TimeoutError) return reason;
  return new AbortedError(`${actionName} was aborted.`, reason);
}
