import { limits } from './limits.ts';
import { dayMs } from './time.ts';

/** Data that retention removes. */
export const retentionKinds = [
  'deleted_threads',
  'audit_events',
  'usage_days',
  'requests',
  'traffic_hours',
  'traffic_days',
  'quota_days',
  'idempotency_keys',
  'sessions',
  'invitations',
  'thread_moves',
  'revoked_keys',
] as const;

export type RetentionKind = (typeof retentionKinds)[number];

/** The operator's settings in days; undefined if the data is kept forever. */
type RetentionDays = Readonly<
  Record<'deletedThreads' | 'audit' | 'usage' | 'requests' | 'idempotency' | 'sessions', number | undefined>
>;

/** How long each kind is kept; undefined if forever. */
export type RetentionMs = Readonly<Record<RetentionKind, number | undefined>>;

/** The operator's settings, and fixed times for data that is no longer read. */
export function retentionMs(days: RetentionDays): RetentionMs {
  const ms = (kept: number | undefined, more = 0) => (kept === undefined ? undefined : (kept + more) * dayMs);
  return {
    deleted_threads: ms(days.deletedThreads),
    audit_events: ms(days.audit),
    usage_days: ms(days.usage),
    requests: ms(days.requests),
    // The console shows the last week by the hour.
    traffic_hours: 8 * dayMs,
    traffic_days: ms(days.usage),
    idempotency_keys: ms(days.idempotency),
    sessions: ms(days.sessions),
    // Yesterday's counts stay, because the clocks of two nodes may differ around midnight.
    quota_days: dayMs,
    invitations: 0,
    // The maximum duration of a walk.
    thread_moves: limits.walkMsMax.default,
    // As long as the audit log, the usage or the request log may name them. Usage goes by whole days.
    revoked_keys: longest([ms(days.audit), ms(days.usage, 1), ms(days.requests)]),
  };
}

/** Undefined is forever. */
function longest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length < times.length ? undefined : Math.max(...known);
}
