import type { OrganizationId, UserId } from '../domain/id.ts';
import type { AuditPosition } from './audit-store.ts';

/** Rows by the name of their table. */
export type PurgeCounts = Readonly<Record<string, number>>;

export interface PurgeStep {
  readonly removed: PurgeCounts;
  /** Whether nothing is left. */
  readonly done: boolean;
}

export interface PurgedPerson {
  readonly userId: UserId;
  readonly email: string;
}

/**
 * The removal of one organization, or of one person from one organization, for good. Each step is short and is one
 * transaction; interrupted anywhere, the same calls go on with what is left. `purge-rules.ts` says what happens to each
 * table.
 */
export interface Purges {
  /** By normalized address, whether or not they are a member of anything. */
  findUser(email: string): Promise<UserId | undefined>;
  /** How many rows a purge of the organization, or of the person in it, would remove or rewrite. */
  countPurge(organizationId: OrganizationId, person: PurgedPerson | null): Promise<PurgeCounts>;
  /**
   * Removes the next rows of the organization: credentials and members first, so that nobody reads or writes it any more,
   * then running replies, then the rest, and the organization itself at the end. People who are known in no other
   * organization lose their sessions, passwords and identities, and their address is replaced.
   */
  purgeOrganization(organizationId: OrganizationId): Promise<PurgeStep>;
  /**
   * Removes the next rows of a person who is no longer a member: their deleted threads with messages, then keys and the
   * rest. Where the person is known in no other organization, they are forgotten as above.
   */
  purgePerson(organizationId: OrganizationId, userId: UserId): Promise<PurgeStep>;
  /**
   * Takes the person out of the next 500 entries of the organization's audit log, oldest first: the entries stay. `next` is
   * null at the end of the log.
   */
  anonymizeAudit(
    organizationId: OrganizationId,
    person: PurgedPerson,
    after: AuditPosition | null,
  ): Promise<{ readonly changed: number; readonly next: AuditPosition | null }>;
  /** Overwrites what SQLite still holds of removed rows in its index of passages and its journal. */
  finishPurge(): Promise<void>;
}
