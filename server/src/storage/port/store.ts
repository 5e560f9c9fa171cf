import type { OperatorAuthority, OwnAuthority } from '../../domain/authority.ts';
import type { LogPosition } from '../../domain/cursor.ts';
import type { ApplicationId, KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { MailCounters } from '../../domain/mail.ts';
import type { Member, MemberRole, Organization, QuotaUse } from '../../domain/organization.ts';
import type { Principal } from '../../domain/principal.ts';
import type { RetentionKind } from '../../domain/retention.ts';
import type { Accounts, Invitations } from './account-store.ts';
import type { Documents } from './document-store.ts';
import type { ApiKeys, Applications, SigningKeys } from './key-store.ts';
import type { AuditedMethod, AuditNote, Audits, InOrganization, Requests } from './log-store.ts';
import type { Notices, Ratings, Replies } from './reply-store.ts';
import type { ThreadSearch, Threads } from './thread-store.ts';

export type * from './account-store.ts';
export type * from './document-store.ts';
export type * from './key-store.ts';
export type * from './log-store.ts';
export type * from './reply-store.ts';
export type * from './thread-store.ts';

/**
 * Everything that Skein stores. One method is one transaction: it happens completely or not at all, and a resolved promise
 * means that it survives a power cut, unless a method says otherwise.
 *
 * Expected outcomes are returned, never thrown; errors are faults of the disk, the network or the program.
 * The store's clock dates every row and never runs backwards: a later commit never has an earlier time.
 */
export interface Store
  extends Organizations,
    ApiKeys,
    Applications,
    SigningKeys,
    Admissions,
    Threads,
    ThreadSearch,
    Replies,
    Notices,
    Ratings,
    Documents,
    Accounts,
    Invitations,
    Audits,
    Requests,
    Retention,
    Purges {
  /** The value stored under `name`. The first caller's `candidate` is stored for all later callers, on every node. */
  secret(name: string, candidate: Uint8Array): Promise<Uint8Array>;
  /** Rejects unless the store can be used now. After a write that failed because of the disk, it tries one itself. */
  ping(): Promise<void>;
  /** The connections to the database that this process has open, and the calls that wait for one; undefined without any. */
  connections(): Readonly<Record<'total' | 'idle' | 'waiting', number>> | undefined;
  /** How far the store's clock is ahead of the machine's (PostgreSQL: the server's). It then runs at half speed. */
  clockAheadMs(): Promise<number>;
  /** Checks the store for the operator. It may take a long time on a large store. */
  diagnose(): Promise<Diagnosis[]>;
  /** Finishes the writes in progress, then closes every file and connection. */
  close(): Promise<void>;
}

/** Receives faults of the store that no caller sees, and changes that deserve a line in the log. */
export interface StoreWatch {
  /** An idle connection has ended. */
  connectionBroke(error: Error): void;
  /** Writes have started to fail: the disk is full, read-only or broken, or the files are gone. */
  writesFail(error: Error): void;
  writesSucceed(): void;
  /** The store cannot be opened until another process has migrated it. */
  migrationWaits(): void;
}

export interface Diagnosis {
  readonly check: string;
  readonly ok: boolean;
  /** The finding and, if it is not ok, what to do. */
  readonly detail: string;
}

export interface NewMember extends Pick<Member, 'email' | 'role' | 'service'> {
  /** Used if the address is new: a person keeps one id in all organizations and after coming back. */
  readonly candidateUserId: UserId;
  readonly membersMax: number;
  /** Rejects a user with threads in this organization if `exposesThreads`: a former member, whose threads an admin could read. */
  readonly withoutThreads?: boolean;
}

/** Organizations and their members. Every change takes a note, which is written in the same commit (`Audits`). */
export interface Organizations {
  createOrganization(
    organization: Omit<Organization, 'createdAt'>,
    note: AuditNote<OperatorAuthority | OwnAuthority>,
  ): Promise<void>;
  /** Changes only the given values. */
  updateOrganization: AuditedMethod<
    [change: { apiEnabled?: boolean; dailyQuota?: number }],
    Organization | undefined
  >;
  /** By id, or by name if exactly one organization has that name. */
  findOrganization(idOrName: string): Promise<Organization | undefined>;
  /** In order of creation. */
  listOrganizations(): Promise<Organization[]>;
  /**
   * The note is written with the user's id as its subject. Also ends remaining sessions of a person who had been removed
   * from every organization.
   */
  addMember: AuditedMethod<
    [member: NewMember],
    | { outcome: 'added'; userId: UserId }
    | { outcome: 'already-member' | 'has-threads' | 'organization-missing' | 'too-many' }
  >;
  /**
   * Also revokes the member's personal keys in this organization. `keepAdmin`: changes nothing if no person would be left
   * as an admin or, if the member has joined, no admin who has joined.
   */
  removeMember: AuditedMethod<
    [email: string, keepAdmin: boolean],
    { outcome: 'removed'; userId: UserId; keysRevoked: number } | { outcome: 'missing' | 'last-admin' }
  >;
  findMember: InOrganization<[email: string], Member | undefined>;
  findMemberById: InOrganization<[userId: UserId], Member | undefined>;
  countMembers: InOrganization<[], number>;
  /** In the order of joining. */
  listMembers: InOrganization<[], Member[]>;
  /** `unchanged`: it is the member's role. `last-admin`: no person would be left as an admin. Neither changes anything. */
  setMemberRole: AuditedMethod<
    [userId: UserId, role: MemberRole],
    'changed' | 'unchanged' | 'missing' | 'last-admin'
  >;
}

/** The owner of a credential, and the request that was counted against its organization's quota. */
export interface Admission extends Pick<Principal, 'organizationId' | 'userId'> {
  readonly credentialId: KeyId | ApplicationId;
  /** Undefined without the public API: nothing was counted. */
  readonly use: QuotaUse | undefined;
}

/**
 * Counts requests against the organization's quota of a UTC day, exactly: over any number of calls and nodes, the quota is
 * never exceeded. Counts survive a killed process; a power cut may lose those of the last moments.
 */
export interface Admissions {
  /** Undefined, and nothing counted, for a key that is unknown or revoked. */
  admitKey(hash: string, day: number): Promise<Admission | undefined>;
  /** The same for an application, which must have this epoch. */
  admitApplication: InOrganization<
    [applicationId: ApplicationId, epoch: number, day: number],
    Admission | undefined
  >;
}

/** A batch starts after this organization, or at the first one if it is the empty string. */
export type RetentionPlace = OrganizationId | '';

export interface RetentionBatch {
  /** Threads are counted without their messages. */
  readonly removed: number;
  /** Including the messages of threads, even of threads that still have more. */
  readonly rows: number;
  /** Where the next batch starts; null after the last organization. */
  readonly next: RetentionPlace | null;
}

export interface Retention {
  /**
   * Permanently removes at most 500 rows of this kind that are more than `keepMs` old. A thread is removed with its messages
   * and idempotency keys. Processes that do this at the same time do not wait for each other. Rows that come back after a
   * power cut are removed again.
   */
  removeExpired(kind: RetentionKind, keepMs: number, place: RetentionPlace): Promise<RetentionBatch>;
  /** How many rows are due now. It stops counting at 10,000. */
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
  /** The hashes of the address under which `countPrompt` and `createInvitation` count emails. */
  readonly mailCounters: MailCounters;
}

/**
 * Removes one organization, or one person from one organization, for good. Each step is one short transaction. After an
 * interruption the same calls continue with what is left. `sql/purge.ts` defines what happens to each table.
 */
export interface Purges {
  /** By normalized address, even if the user is not a member of any organization. */
  findUser(email: string): Promise<UserId | undefined>;
  /** How many rows a purge of the organization, or of the person in it, would remove or rewrite. */
  countPurge: InOrganization<[person: PurgedPerson | null], PurgeCounts>;
  /**
   * Credentials and members go first, which ends all access, then running replies, then the rest, and finally the
   * organization itself. People who are not members elsewhere lose their sessions, passwords and identities. Their
   * address is replaced if no other organization has their threads or keys. With `keepName`, the organization stays.
   */
  purgeOrganization: InOrganization<[keepName?: boolean], PurgeStep>;
  /**
   * Deleted threads go first, then keys and the rest. Sessions, passwords, identities and the address are treated as
   * above. `isActive`: the person is a member, or has threads that are not deleted, and nothing was removed. With
   * `keepName`, only the threads go.
   */
  purgePerson: InOrganization<
    [person: PurgedPerson, keepName?: boolean],
    PurgeStep & { readonly isActive?: true }
  >;
  /** Removes the person from the next 500 entries of the audit log, oldest first. `next` is null at the end of the log. */
  anonymizeAudit: InOrganization<
    [person: PurgedPerson, after: LogPosition | null],
    { readonly changed: number; readonly next: LogPosition | null }
  >;
  /**
   * Overwrites what is left of removed rows in SQLite's indexes of words and its journal. False if another process reads the
   * journal for longer than `waitMs`: the journal then still holds removed rows.
   */
  finishPurge(waitMs: number): Promise<boolean>;
}
