import type { MessageStatus } from './message.ts';

export const runningStatuses = ['in_progress', 'corroborating'] as const satisfies readonly MessageStatus[];

export type RunningStatus = (typeof runningStatuses)[number];
export type TerminalStatus = Exclude<MessageStatus, RunningStatus>;

export function isRunning(status: MessageStatus): status is RunningStatus {
  return status === 'in_progress' || status === 'corroborating';
}

/** What a caller reads in a failed reply. The reason goes to the log, by trace id. */
export const failedReplyContent = 'The reply could not be generated. Please try again.';

const firstRetryMs = 1000;
const retryMsMax = 30_000;

/**
 * How long a reply waits after an attempt that may succeed next time; undefined when it has failed for good. Doubled with
 * every attempt and spread by chance, so that what failed together does not come back together. Never shorter than the
 * provider asked for, and given up at once where that is past the reply's deadline.
 */
export function retryDelayMs(
  failed: { attempts: number; retryAfterMs: number | undefined; remainingMs: number },
  attemptsMax: number,
  chance: number,
): number | undefined {
  if (failed.attempts >= attemptsMax) return undefined;
  const spread = Math.min(retryMsMax, firstRetryMs * 2 ** (failed.attempts - 1)) * (0.5 + chance / 2);
  const delayMs = Math.round(Math.max(spread, failed.retryAfterMs ?? 0));
  return delayMs < failed.remainingMs ? delayMs : undefined;
}

/** An organization may take another place while it has fewer than this many times the places that are free. */
const placesPerFree = 1;

/**
 * How many free places of a worker each organization gets, of those that have something waiting. Those that come
 * together get the same; who comes alone gets half of what is free, and the next one half of the rest, so that it takes
 * many to leave nothing. (The dynamic threshold that keeps one port of a network switch from filling its buffer.)
 */
export function sharePlaces<Organization>(
  free: number,
  organizations: readonly Organization[],
  runningOf: (organization: Organization) => number,
): { organization: Organization; places: number }[] {
  const shares: { organization: Organization; places: number }[] = [];
  let left = free;
  organizations.forEach((organization, index) => {
    const sharers = organizations.length - index;
    const equal = Math.ceil((placesPerFree * left) / (placesPerFree * sharers + 1));
    const allowed = Math.ceil((placesPerFree * left - runningOf(organization)) / (placesPerFree + 1));
    const places = Math.min(equal, allowed);
    if (places <= 0) return;
    shares.push({ organization, places });
    left -= places;
  });
  return shares;
}
