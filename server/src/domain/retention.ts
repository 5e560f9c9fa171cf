import { limits } from './limits.ts';
import { dayMs } from './time.ts';

/** The operator's settings in days; undefined if the data is kept forever. */
type RetentionDays = Readonly<
  Record<'deletedThreads' | 'audit' | 'usage' | 'requests' | 'idempotency' | 'sessions', number | undefined>
>;

/** For how many days each kind is kept: as the operator sets it, or a fixed time for data that is no longer read. */
const keptDays = {
  deleted_threads: ({ deletedThreads }) => deletedThreads,
  audit_events: ({ audit }) => audit,
  usage_days: ({ usage }) => usage,
  requests: ({ requests }) => requests,
  // The console shows the last week by the hour.
  traffic_hours: () => 8,
  traffic_days: ({ usage }) => usage,
  // Yesterday's counts stay, because the clocks of two nodes may differ around midnight.
  quota_days: () => 1,
  idempotency_keys: ({ idempotency }) => idempotency,
  sessions: ({ sessions }) => sessions,
  invitations: () => 0,
  thread_moves: () => limits.walkMsMax.default / dayMs,
  // Kept as long as the audit log, usage or the request log may name them. Usage is removed by whole days.
  revoked_keys: ({ audit, usage, requests }) =>
    audit === undefined || usage === undefined || requests === undefined
      ? undefined
      : Math.max(audit, usage + 1, requests),
} satisfies Record<string, (days: RetentionDays) => number | undefined>;

export type RetentionKind = keyof typeof keptDays;
export const retentionKinds = Object.keys(keptDays) as readonly RetentionKind[];

/** Dated by the clock of the machine that handled the request, all others by the store's. */
const datedByMachine: ReadonlySet<RetentionKind> = new Set([
  'usage_days',
  'requests',
  'traffic_hours',
  'traffic_days',
  'quota_days',
]);

/** The age at which rows are due by a store's clock that is ahead. Otherwise today's quota counts would be due at once. */
export function dueAgeMs(kind: RetentionKind, keepMs: number, storeAheadMs: number): number {
  return datedByMachine.has(kind) ? keepMs + storeAheadMs : keepMs;
}

/** How long each kind is kept; undefined if forever. */
export type RetentionMs = Readonly<Record<RetentionKind, number | undefined>>;

export function retentionMs(settings: RetentionDays): RetentionMs {
  const kept = retentionKinds.map((kind) => {
    const days = keptDays[kind](settings);
    return [kind, days === undefined ? undefined : days * dayMs];
  });
  return Object.fromEntries(kept);
}
