import type { RetentionKind } from '../domain/retention.ts';
import type { TableName } from './archive.ts';

interface RetentionRule {
  readonly table: TableName;
  /** Says how old a row is. An index has its order within the organization, so that no batch scans a table. */
  readonly column: string;
  /** What the column counts: milliseconds or days. */
  readonly unitMs: number;
}

export const retentionRules: Readonly<Record<RetentionKind, RetentionRule>> = {
  deleted_threads: { table: 'thread', column: 'deleted_at', unitMs: 1 },
  audit_events: { table: 'audit_event', column: 'at', unitMs: 1 },
  usage_days: { table: 'usage_day', column: 'day', unitMs: 86_400_000 },
  quota_days: { table: 'quota_use', column: 'day', unitMs: 86_400_000 },
  idempotency_keys: { table: 'idempotency_key', column: 'expires_at', unitMs: 1 },
  sessions: { table: 'session', column: 'expires_at', unitMs: 1 },
  invitations: { table: 'invitation', column: 'expires_at', unitMs: 1 },
  thread_moves: { table: 'thread_move', column: 'moved_at', unitMs: 1 },
};

/** A batch removes this many rows at most. */
export const batchRows = 500;
/** And looks at this many organizations at most. */
export const batchOrganizations = 500;
/** Counting what is due stops here. */
export const countMax = 10_000;
