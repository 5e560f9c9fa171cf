import { AbortedError, TimeoutError } from './errors.ts';

/** What ends an act before its own end. */
export interface Limits {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** A timer's longest: beyond it runtimes fire at once. */
const timerMsMax = 2 ** 31 - 1;

/**
 * Runs an act until it ends, the caller aborts or the time is up; `what` names it in the error. The act's own signal is
 * aborted with that error, and an action that ignores the signal is not awaited.
 */
export async function within<T>(
  { signal, timeoutMs }: Limits,
  what: string,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!(timeoutMs >= 0)) throw new TypeError('timeoutMs must be a number of at least 0.');
  const ending = new AbortController();
  const abort = () => ending.abort(abortError(what, signal?.reason));
  if (signal?.aborted) abort();
  ending.signal.throwIfAborted();
  // By hand, not `AbortSignal.any`: a signal that outlives many calls must keep nothing of them.
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () =>
      ending.abort(new TimeoutError(`${what} has not ended within ${timeoutMs} ms.`, { code: 'TIMEOUT' })),
    Math.min(timeoutMs, timerMsMax),
  );
  try {
    return await Promise.race([act(ending.signal), rejectionBy(ending.signal)]);
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

/** Never resolves: for races. The signal must be the call's own, for it keeps the listener. */
export function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** One call within another passes on what ended it, as it is. */
function abortError(what: string, reason: unknown): unknown {
  if (reason instanceof AbortedError || reason instanceof TimeoutError) return reason;
  return new AbortedError(`${what} was aborted.`, reason);
}
