import type { RetentionKind } from '../domain/retention.ts';
import type { TableName } from './archive.ts';

interface RetentionRule {
  readonly table: TableName;
  /** The age of a row. An index has its order within the organization, so that no batch scans a table. */
  readonly column: string;
  /** The unit of the column: milliseconds or days. */
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

/** A batch removes at most this many rows. */
export const batchRows = 500;
/** A batch looks at at most this many organizations. */
export const batchOrganizations = 500;
/** Counting expired rows stops here. */
export const countMax = 10_000;
