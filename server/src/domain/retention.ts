import { limits } from './limits.ts';

/** What is removed for good once it is old enough. */
export const retentionKinds = [
  'deleted_threads',
  'audit_events',
  'usage_days',
  'quota_days',
  'idempotency_keys',
  'sessions',
  'invitations',
  'thread_moves',
] as const;

export type RetentionKind = (typeof retentionKinds)[number];

/** What the operator chooses, in days; undefined: kept for good. */
export interface RetentionDays {
  readonly deletedThreads: number | undefined;
  readonly audit: number | undefined;
  readonly usage: number | undefined;
  readonly idempotency: number | undefined;
  readonly sessions: number | undefined;
}

/** For how long each kind is kept; undefined: for good. */
export type Kept = Readonly<Record<RetentionKind, number | undefined>>;

const dayMs = 86_400_000;

/** What the operator has chosen, and what is removed in any case because nothing reads it any more. */
export function keptMs(days: RetentionDays): Kept {
  const ms = (kept: number | undefined) => (kept === undefined ? undefined : kept * dayMs);
  return {
    deleted_threads: ms(days.deletedThreads),
    audit_events: ms(days.audit),
    usage_days: ms(days.usage),
    idempotency_keys: ms(days.idempotency),
    sessions: ms(days.sessions),
    // Yesterday's stays: the clocks of two nodes may differ around midnight.
    quota_days: dayMs,
    invitations: 0,
    // No walk takes longer.
    thread_moves: limits.walkMsMax.default,
  };
}
