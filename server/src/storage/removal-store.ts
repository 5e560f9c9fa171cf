import type { LogPosition } from '../domain/cursor.ts';
import type { OrganizationId, UserId } from '../domain/id.ts';
import type { MailCounters } from '../domain/mail.ts';
import type { RetentionKind } from '../domain/retention.ts';

/** A batch starts after this organization; the empty string is before the first. */
export type RetentionPlace = OrganizationId | '';

export interface RetentionBatch {
  /** Threads are counted without their messages. */
  readonly removed: number;
  /** With the messages of threads, also of threads that still have more. */
  readonly rows: number;
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

/** Rows by the name of their table. */
export type PurgeCounts = Readonly<Record<string, number>>;

export interface PurgeStep {
  readonly removed: PurgeCounts;
  readonly done: boolean;
}

export interface PurgedPerson {
  readonly userId: UserId;
  readonly email: string;
  /** The hashes of the address under which `countPrompt` and `createInvitation` count mails. */
  readonly mailCounters: MailCounters;
}

/**
 * Removes one organization, or one person from one organization, for good. Each step is one short transaction. After an
 * interruption the same calls continue with what is left. `removal-rules.ts` defines what happens to each
 * table.
 */
export interface Purges {
  /** By normalized address, also if the user is not a member of any organization. */
  findUser(email: string): Promise<UserId | undefined>;
  /** How many rows a purge of the organization, or of the person in it, would remove or rewrite. */
  countPurge(organizationId: OrganizationId, person: PurgedPerson | null): Promise<PurgeCounts>;
  /**
   * Removes the next rows of the organization: credentials and members first, which ends all access, then running replies,
   * then the rest, and finally the organization itself. People who are known in no other organization lose their sessions,
   * passwords and identities, and their address is replaced.
   */
  purgeOrganization(organizationId: OrganizationId): Promise<PurgeStep>;
  /**
   * Removes the next rows of a person who is no longer a member: their deleted threads with messages, then keys and the
   * rest. If no other organization knows the person, they are forgotten as above.
   */
  purgePerson(organizationId: OrganizationId, person: PurgedPerson): Promise<PurgeStep>;
  /**
   * Removes the person from the next 500 entries of the organization's audit log, oldest first, and keeps the entries.
   * `next` is null at the end of the log.
   */
  anonymizeAudit(
    organizationId: OrganizationId,
    person: PurgedPerson,
    after: LogPosition | null,
  ): Promise<{ readonly changed: number; readonly next: LogPosition | null }>;
  /**
   * Overwrites the remains of removed rows in SQLite's indexes of words and its journal. Waits up to `waitMs` for readers of
   * the journal. False if one of them is still reading: the journal then keeps removed rows.
   */
  finishPurge(waitMs: number): Promise<boolean>;
}
