import { retryAfter } from './answer.ts';
import { ConnectionError, type SkeinError } from './errors.ts';
import { pause } from './patience.ts';

export interface RetryRules {
  /** How many tries may follow the first. */
  readonly retries: number;
  /** The longest pause before a try; a service that asks for a longer one is not asked again. */
  readonly maxRetryDelayMs: number;
}

/** One try: it has succeeded, or it says why not and whether the service asked for a pause. */
export type Try<T> =
  | { readonly done: T }
  | { readonly failure: SkeinError; readonly headers?: Headers | undefined };

const firstDelayMs = 500;
const passing = new Set([429, 500, 502, 503, 504]);

/**
 * Tries until it succeeds, fails for good, has failed too often, or the next try would come too late. It is always the
 * service's last word that is thrown, never that the waiting for another was too long.
 */
export async function persist<T>(
  { retries, maxRetryDelayMs }: RetryRules,
  deadline: number,
  signal: AbortSignal,
  attempt: (index: number) => Promise<Try<T>>,
): Promise<T> {
  for (let index = 0; ; index += 1) {
    const result = await attempt(index);
    if ('done' in result) return result.done;
    const { failure, headers } = result;
    if (index >= retries || !mayPass(failure)) throw failure;
    const asked = headers && retryAfter(headers);
    const delayMs = (asked ?? 0) * 1000 + jittered(index, maxRetryDelayMs);
    if ((asked ?? 0) * 1000 > maxRetryDelayMs || performance.now() + delayMs >= deadline) throw failure;
    await pause(delayMs, signal);
  }
}

/** Exponential with full jitter: anything between nothing and twice the last limit, so that many clients come back apart. */
export function jittered(index: number, maxMs: number, random: () => number = Math.random): number {
  return random() * Math.min(maxMs, firstDelayMs * 2 ** index);
}

function mayPass(failure: SkeinError): boolean {
  return failure instanceof ConnectionError || (failure.status !== undefined && passing.has(failure.status));
}
