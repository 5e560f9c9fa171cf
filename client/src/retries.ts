import { ConnectionError, type SkeinError } from './errors.ts';
import { retryAfter } from './response.ts';
import { pause } from './time-limits.ts';

export interface RetryRules {
  /** The most attempts after the first. */
  readonly retries: number;
  /** The longest pause before a retry. If the service asks for a longer one, there is no retry. */
  readonly maxRetryDelayMs: number;
}

/** The outcome of one attempt. The headers of a failure may ask for a pause. */
export type Attempt<T> =
  | { readonly done: T }
  | { readonly failure: SkeinError; readonly headers?: Headers | undefined };

const firstDelayMs = 500;
const transient = new Set([429, 500, 502, 503, 504]);

/**
 * Retries transient failures as long as retries and time are left. Throws the failure of the last attempt, never an
 * error about the retries.
 */
export async function withRetries<T>(
  { retries, maxRetryDelayMs }: RetryRules,
  deadline: number,
  signal: AbortSignal,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let index = 0; ; index += 1) {
    const result = await attempt();
    if ('done' in result) return result.done;
    const { failure, headers } = result;
    if (index >= retries || !isTransient(failure)) throw failure;
    const asked = headers && retryAfter(headers);
    const delayMs = (asked ?? 0) * 1000 + jittered(index, maxRetryDelayMs);
    if ((asked ?? 0) * 1000 > maxRetryDelayMs || performance.now() + delayMs >= deadline) throw failure;
    await pause(delayMs, signal);
  }
}

/** Exponential backoff with full jitter, so that many clients do not retry at the same moment. */
export function jittered(index: number, maxMs: number, random: () => number = Math.random): number {
  return random() * Math.min(maxMs, firstDelayMs * 2 ** index);
}

function isTransient(failure: SkeinError): boolean {
  return (
    failure instanceof ConnectionError || (failure.status !== undefined && transient.has(failure.status))
  );
}
