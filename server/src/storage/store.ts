import type { Application } from '../domain/credential.ts';
import type { ApplicationId, KeyId, OrganizationId, UserId } from '../domain/id.ts';
import type { Member, MemberRole, Organization } from '../domain/organization.ts';
import type { QuotaUse } from '../domain/quota.ts';
import type { Accounts, Mails } from './account-store.ts';
import type { AuditNote, AuditSearches, Audits } from './audit-store.ts';
import type { Documents } from './document-store.ts';
import type { ApiKeys, KeyRequests } from './key-store.ts';
import type { Purges, Retention } from './removal-store.ts';
import type { Ratings, Replies } from './reply-store.ts';
import type { Requests, Usages } from './request-store.ts';
import type { ThreadSearch } from './search-store.ts';
import type { Threads } from './thread-store.ts';

export type * from './account-store.ts';
export type * from './audit-store.ts';
export type * from './document-store.ts';
export type * from './key-store.ts';
export type * from './removal-store.ts';
export type * from './reply-store.ts';
export type * from './request-store.ts';
export type * from './search-store.ts';
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
    Members,
    ApiKeys,
    KeyRequests,
    Applications,
    SigningKeys,
    Admissions,
    Threads,
    ThreadSearch,
    Replies,
    Ratings,
    Documents,
    Accounts,
    Mails,
    Audits,
    AuditSearches,
    Usages,
    Requests,
    Retention,
    Purges {
  /** The value stored under `name`. The first caller's `candidate` is stored for all later callers, on every node. */
  secret(name: string, candidate: Uint8Array): Promise<Uint8Array>;
  /**
   * Rejects unless the store can be used now. After a write that failed because of the disk it tries a write itself, so
   * that a store that accepts writes again is noticed without a caller.
   */
  ping(): Promise<void>;
  /** How this process uses its connections to the database now; undefined for a store without any. */
  connections(): ConnectionUse | undefined;
  /**
   * How far the store's clock is ahead of the machine's (PostgreSQL: of the server's); usually 0. It is ahead after that
   * clock was set back or corrected, and then runs at half speed.
   */
  clockAheadMs(): Promise<number>;
  /** Checks the store for the operator. It may take long on a large store. */
  diagnose(): Promise<Diagnosis[]>;
  /** Finishes the writes in progress, then closes every file and connection. */
  close(): Promise<void>;
}

/** Is called about faults of the store that no caller sees, and about changes that deserve a line in the log. */
export interface StoreWatch {
  connectionBroke(error: Error): void;
  /** Writes have started to fail: the disk is full, read-only or broken, or the files are gone. */
  writesFail(error: Error): void;
  writesSucceed(): void;
}

export interface ConnectionUse {
  /** Open connections, including idle ones. */
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface Diagnosis {
  readonly check: string;
  readonly ok: boolean;
  /** The finding and, if it is not ok, what to do. */
  readonly detail: string;
}

/** Every change of settings takes a note, which is written in the same commit (`Audits`). */
export interface Organizations {
  createOrganization(organization: Omit<Organization, 'createdAt'>, note: AuditNote): Promise<void>;
  /** Changes only the given values. */
  updateOrganization(
    organizationId: OrganizationId,
    change: { apiEnabled?: boolean; dailyQuota?: number },
    note: AuditNote,
  ): Promise<Organization | undefined>;
  /** By id, or by name if exactly one organization has that name. */
  findOrganization(idOrName: string): Promise<Organization | undefined>;
  /** In order of creation. */
  listOrganizations(): Promise<Organization[]>;
}

export interface NewMember {
  /** Used if the address is new: a person keeps one id in all organizations and after coming back. */
  readonly candidateUserId: UserId;
  readonly email: string;
  readonly role: MemberRole;
  readonly service: boolean;
  /** How many members the organization may have. */
  readonly membersMax: number;
  /** Rejects a user who has threads in this organization: those of a former member would be shown to others. */
  readonly withoutThreads?: boolean;
}

export interface Members {
  /** The note is written with the user's id as its subject. */
  addMember(
    organizationId: OrganizationId,
    member: NewMember,
    note: AuditNote,
  ): Promise<
    | { outcome: 'added'; userId: UserId }
    | { outcome: 'already-member' | 'has-threads' | 'organization-missing' | 'too-many' }
  >;
  /**
   * Ends the membership and revokes the member's personal keys in this organization, together. `keepAdmin`: changes
   * nothing if the organization would be left without a person who is an admin or, if the member has joined, without an
   * admin who has joined.
   */
  removeMember(
    organizationId: OrganizationId,
    email: string,
    keepAdmin: boolean,
    note: AuditNote,
  ): Promise<
    { outcome: 'removed'; userId: UserId; keysRevoked: number } | { outcome: 'missing' | 'last-admin' }
  >;
  findMember(organizationId: OrganizationId, email: string): Promise<Member | undefined>;
  findMemberById(organizationId: OrganizationId, userId: UserId): Promise<Member | undefined>;
  /** In the order of joining. */
  listMembers(organizationId: OrganizationId): Promise<Member[]>;
}

export interface NewApplication {
  readonly id: ApplicationId;
  readonly name: string;
  /** SHA-256, in hexadecimal. */
  readonly secretHash: string;
}

/** What a live application may do: its organization, and whether that is in the beta now. */
export interface ApplicationGrant {
  readonly organizationId: OrganizationId;
  readonly secretHash: string;
  /** Tokens of another epoch are invalid. */
  readonly epoch: number;
  readonly apiEnabled: boolean;
}

export interface Applications {
  /** Refused, in the same transaction, outside the beta. */
  createApplication(
    organizationId: OrganizationId,
    application: NewApplication,
    note: AuditNote,
  ): Promise<'created' | 'organization-missing' | 'api-disabled' | 'too-many'>;
  /** Replaces the secret and ends every token issued under the old one, together. Refused outside the beta. */
  rotateApplication(
    organizationId: OrganizationId,
    applicationId: ApplicationId,
    secretHash: string,
    note: AuditNote,
  ): Promise<'rotated' | 'missing' | 'api-disabled'>;
  /** Ends the application, its secret and its tokens, together and for good. */
  deleteApplication(
    organizationId: OrganizationId,
    applicationId: ApplicationId,
    note: AuditNote,
  ): Promise<'deleted' | 'missing'>;
  /** In order of creation, without deleted ones. */
  listApplications(organizationId: OrganizationId): Promise<Application[]>;
  /** Undefined for a deleted one. */
  findApplication(organizationId: OrganizationId, applicationId: string): Promise<Application | undefined>;
  /** Reads committed state every time: a rotation or deletion by another process takes effect with its commit. */
  findApplicationGrant(applicationId: string): Promise<ApplicationGrant | undefined>;
}

/** A key that signs access tokens. Tokens name its `id`. */
export interface SigningKey {
  readonly id: string;
  /** A JWK in JSON, private part included. */
  readonly privateJwk: string;
  /** When it stopped signing; null for the active key. */
  readonly retiredAt: number | null;
}

export type NewSigningKey = Omit<SigningKey, 'retiredAt'>;

export interface SigningKeys {
  findActiveSigningKey(): Promise<SigningKey | undefined>;
  /** Makes the candidate the active key unless there is one. Returns the active key, the same on every node. */
  keepSigningKey(candidate: NewSigningKey): Promise<SigningKey>;
  /**
   * Retires the active key and makes `next` the active one. `forget`: also removes retired keys and raises every
   * application's epoch by an unpredictable number, so that no token signed by them is valid any more.
   */
  rotateSigningKey(next: NewSigningKey, forget: boolean): Promise<void>;
  /** Newest first, including keys retired less than `verifyMs` ago. */
  listSigningKeys(verifyMs: number): Promise<SigningKey[]>;
}

/** The owner of a credential, and the request that was counted against its organization's quota. */
export interface Admission {
  readonly organizationId: OrganizationId;
  /** Null for the organization's service identity. */
  readonly userId: UserId | null;
  readonly credentialId: KeyId | ApplicationId;
  /** Undefined outside the beta: nothing was counted. */
  readonly use: QuotaUse | undefined;
}

/**
 * Counts requests against the organization's quota of a UTC day, exactly: over any number of calls and nodes, the quota is
 * never exceeded. Counts survive a killed process; a power cut may lose those of the last moments.
 */
export interface Admissions {
  /**
   * Finds the current owner of the key and counts one request against its organization's quota, together. Undefined, and
   * nothing counted, for a key that is unknown or revoked.
   */
  admitKey(hash: string, day: number): Promise<Admission | undefined>;
  /** The same for an application, which must have this epoch. */
  admitApplication(
    organizationId: OrganizationId,
    applicationId: ApplicationId,
    epoch: number,
    day: number,
  ): Promise<Admission | undefined>;
}
