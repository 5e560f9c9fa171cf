import { dayMs, iso } from './iso-time.ts';

/** The state of the organization's quota after one request. */
export interface QuotaUse {
  readonly granted: boolean;
  readonly limit: number;
  readonly remaining: number;
}

/** The state after the request with this number among those of its day, from 1. */
export function quotaUse(limit: number, number: number): QuotaUse {
  return { granted: number <= limit, limit, remaining: Math.max(0, limit - number) };
}

/** The UTC calendar day, as days since 1970. The quota resets with it. */
export function utcDay(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** The start of a UTC day. */
function utcDayStart(day: number): number {
  return day * dayMs;
}

/** The date of a UTC day: `2026-11-15`. */
export function utcDate(day: number): string {
  return iso(utcDayStart(day)).slice(0, 10);
}

/** The next UTC midnight. */
export function quotaResetAt(ms: number): number {
  return utcDayStart(utcDay(ms) + 1);
}

/** Whole seconds until the next UTC midnight, at least 1: after waiting this long, a client has a new quota. */
export function secondsUntilReset(ms: number): number {
  return Math.ceil((quotaResetAt(ms) - ms) / 1000);
}
