import type { OrganizationId } from '../domain/id.ts';
import type { RetentionKind } from '../domain/retention.ts';

/** A batch starts after this organization; the empty string is before the first. */
export type RetentionPlace = OrganizationId | '';

export interface RetentionBatch {
  /** Threads are counted without their messages. */
  readonly removed: number;
  /** Where the next batch starts; null after the last organization. */
  readonly next: RetentionPlace | null;
}

export interface Retention {
  /**
   * Removes a batch of rows of this kind that are more than `keepMs` old, for good: at most 500 rows, or 500 messages. A
   * thread is removed with its messages and idempotency keys. Any number of processes may do this at once without waiting
   * for each other. What a power cut takes back is removed again.
   */
  removeExpired(kind: RetentionKind, keepMs: number, place: RetentionPlace): Promise<RetentionBatch>;
  /** How many rows `removeExpired` would remove now. It stops counting at 10,000. */
  countExpired(kind: RetentionKind, keepMs: number): Promise<number>;
}
