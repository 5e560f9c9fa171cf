const dayMs = 86_400_000;

/** What one request was told about its organization's quota. */
export interface QuotaUse {
  readonly granted: boolean;
  readonly limit: number;
  readonly remaining: number;
}

/** The UTC calendar day, as days since 1970: a quota begins anew with it. */
export function utcDay(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** The moment at which a UTC day begins. */
export function utcDayStart(day: number): number {
  return day * dayMs;
}

/** The next UTC midnight. */
export function quotaResetAt(ms: number): number {
  return utcDayStart(utcDay(ms) + 1);
}

/** Whole seconds until the next UTC midnight, never 0: a client that waits them finds a new quota. */
export function secondsUntilReset(ms: number): number {
  return Math.ceil((quotaResetAt(ms) - ms) / 1000);
}
