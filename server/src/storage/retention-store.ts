import type { OrganizationId } from '../domain/id.ts';
import type { RetentionKind } from '../domain/retention.ts';

/** After which organization a batch starts; the empty string is before the first. */
export type RetentionPlace = OrganizationId | '';

export interface RetentionBatch {
  /** Threads are counted without their messages. */
  readonly removed: number;
  /** Where the next batch starts; null once every organization has been looked at. */
  readonly next: RetentionPlace | null;
}

export interface Retention {
  /**
   * Removes a batch of rows of this kind that are more than `keepMs` old, for good: at most 500 rows, or 500 messages. A
   * thread goes with its messages and idempotency keys. Any number of processes may do this at once: none waits for
   * another, and what a power cut takes back is removed again.
   */
  removeExpired(kind: RetentionKind, keepMs: number, place: RetentionPlace): Promise<RetentionBatch>;
  /** How many rows `removeExpired` would remove by now; it counts to 10,000. */
  countExpired(kind: RetentionKind, keepMs: number): Promise<number>;
}
