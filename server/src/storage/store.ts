import type { Application } from '../domain/credential.ts';
import type { ApplicationId, KeyId, OrganizationId, UserId } from '../domain/id.ts';
import type { Member, MemberRole, Organization } from '../domain/organization.ts';
import type { QuotaUse } from '../domain/quota.ts';
import type { Accounts } from './account-store.ts';
import type { AuditNote, Audits } from './audit-store.ts';
import type { Documents } from './document-store.ts';
import type { ApiKeys, KeyRequests } from './key-store.ts';
import type { Purges } from './purge-store.ts';
import type { Replies } from './reply-store.ts';
import type { Retention } from './retention-store.ts';
import type { Threads } from './thread-store.ts';
import type { Usages } from './usage-store.ts';

export type * from './account-store.ts';
export type * from './audit-store.ts';
export type * from './document-store.ts';
export type * from './key-store.ts';
export type * from './purge-store.ts';
export type * from './reply-store.ts';
export type * from './retention-store.ts';
export type * from './thread-store.ts';
export type * from './usage-store.ts';

/**
 * Everything Skein keeps. One method is one transaction: it happens whole or not at all, and a resolved promise
 * means that it survives a power cut (except where a method says otherwise).
 *
 * Expected outcomes are returned, never thrown; what is thrown is a fault of the disk, the network or the program.
 * The store's clock dates every row, and never runs backwards: a later commit never carries an earlier time.
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
    Replies,
    Documents,
    Accounts,
    Audits,
    Usages,
    Retention,
    Purges {
  /** The value kept under `name`; the first caller's `candidate` is kept for all who come later, on every node. */
  secret(name: string, candidate: Uint8Array): Promise<Uint8Array>;
  /**
   * Rejects unless the store can be used now. After a write that failed because of the disk it tries one of its own, so
   * that a store that takes writes again is noticed without a caller.
   */
  ping(): Promise<void>;
  /** How this process uses its connections to the database now; undefined for a store without any. */
  connections(): ConnectionUse | undefined;
  /**
   * How far the store's clock is ahead of the machine's (PostgreSQL: of the server's); 0 as a rule. It is ahead after that
   * clock was set back, or had been set wrong, and then goes at half its pace.
   */
  clockAheadMs(): Promise<number>;
  /** Looks the store over for the operator; may take long on a large one. */
  diagnose(): Promise<Diagnosis[]>;
  /** Finishes the writes under way, then lets go of every file and connection. */
  close(): Promise<void>;
}

/** Told of what goes wrong with the store while nobody calls it, and of what is worth one line in the log. */
export interface StoreWatch {
  connectionBroke(error: Error): void;
  /** Writes began to fail: the disk is full, read-only or broken, or the files are gone. */
  writesFail(error: Error): void;
  writesSucceed(): void;
}

export interface ConnectionUse {
  /** Open ones, idle ones included. */
  readonly total: number;
  readonly idle: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

export interface Diagnosis {
  readonly check: string;
  readonly ok: boolean;
  /** What was found and, where it is not ok, what to do. */
  readonly detail: string;
}

/** Whoever changes settings hands in a note of it, which is kept in the same commit (`Audits`). */
export interface Organizations {
  createOrganization(organization: Omit<Organization, 'createdAt'>, note: AuditNote): Promise<void>;
  /** Changes what is given and leaves the rest. */
  updateOrganization(
    organizationId: OrganizationId,
    change: { apiEnabled?: boolean; dailyQuota?: number },
    note: AuditNote,
  ): Promise<Organization | undefined>;
  /** By id, or by name where exactly one organization bears it. */
  findOrganization(idOrName: string): Promise<Organization | undefined>;
  /** In order of creation. */
  listOrganizations(): Promise<Organization[]>;
}

export interface NewMember {
  /** Used unless the address is known already: a person keeps one id in all organizations and after coming back. */
  readonly candidateUserId: UserId;
  readonly email: string;
  readonly role: MemberRole;
  readonly service: boolean;
  /** Refused where the user has threads in this organization: a former member's would be shown to others. */
  readonly withoutThreads?: boolean;
}

export interface Members {
  /** The subject of the note is the person's id, whichever that turns out to be. */
  addMember(
    organizationId: OrganizationId,
    member: NewMember,
    note: AuditNote,
  ): Promise<
    | { outcome: 'added'; userId: UserId }
    | { outcome: 'already-member' | 'has-threads' | 'organization-missing' }
  >;
  /**
   * Ends the membership and revokes the member's personal keys in this organization, together. `keepAdmin`: not if that
   * left the organization without a person who is an admin; where the member has joined, without one who has joined, too.
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
  /** In order of joining. */
  listMembers(organizationId: OrganizationId): Promise<Member[]>;
}

export interface NewApplication {
  readonly id: ApplicationId;
  readonly name: string;
  /** SHA-256, in hexadecimal. */
  readonly secretHash: string;
}

/** What a live application stands for, and whether its organization is in the beta now. */
export interface ApplicationGrant {
  readonly organizationId: OrganizationId;
  readonly secretHash: string;
  /** Tokens of another epoch are void. */
  readonly epoch: number;
  readonly apiEnabled: boolean;
}

export interface Applications {
  /** Refused, in the same transaction, outside the beta. */
  createApplication(
    organizationId: OrganizationId,
    application: NewApplication,
    note: AuditNote,
  ): Promise<'created' | 'organization-missing' | 'api-disabled'>;
  /** The new secret, and the end of the old one and of every token issued under it, together. Refused outside the beta. */
  rotateApplication(
    organizationId: OrganizationId,
    applicationId: ApplicationId,
    secretHash: string,
    note: AuditNote,
  ): Promise<'rotated' | 'missing' | 'api-disabled'>;
  /** The end of the application, its secret and its tokens, together and for good. */
  deleteApplication(
    organizationId: OrganizationId,
    applicationId: ApplicationId,
    note: AuditNote,
  ): Promise<'deleted' | 'missing'>;
  /** In order of creation, without deleted ones. */
  listApplications(organizationId: OrganizationId): Promise<Application[]>;
  /** Undefined for a deleted one. */
  findApplication(organizationId: OrganizationId, applicationId: string): Promise<Application | undefined>;
  /** Reads committed state every time: one rotated or deleted by another process is so from that commit on. */
  findApplicationGrant(applicationId: string): Promise<ApplicationGrant | undefined>;
}

/** What access tokens are signed with. `id` is the key id that tokens name. */
export interface SigningKey {
  readonly id: string;
  /** A JWK in JSON, private part included. */
  readonly privateJwk: string;
  /** When it ceased to sign; null for the one that signs. */
  readonly retiredAt: number | null;
}

export type NewSigningKey = Omit<SigningKey, 'retiredAt'>;

export interface SigningKeys {
  /** The key that signs now. */
  findActiveSigningKey(): Promise<SigningKey | undefined>;
  /** The candidate becomes the key that signs, unless there is one. Answers the one that signs, on every node. */
  keepSigningKey(candidate: NewSigningKey): Promise<SigningKey>;
  /**
   * Retires the key that signs, and puts the next in its place. `forget`: retired ones are gone, and every application's
   * epoch is raised by a number that nobody can foresee, so that no token of theirs is good any more.
   */
  rotateSigningKey(next: NewSigningKey, forget: boolean): Promise<void>;
  /** Newest first, with those that were retired less than `verifyMs` ago. */
  listSigningKeys(verifyMs: number): Promise<SigningKey[]>;
}

/** What a credential stands for, and the request that was taken from its organization's quota for it. */
export interface Admission {
  readonly organizationId: OrganizationId;
  /** Null for the organization's service identity. */
  readonly userId: UserId | null;
  readonly credentialId: KeyId | ApplicationId;
  /** Undefined outside the beta: nothing was counted. */
  readonly use: QuotaUse | undefined;
}

/**
 * Taking requests from the organization's quota of a UTC day, exactly: of any number of calls, on any number of nodes, as
 * many are granted as the quota has. It survives a killed process; a power cut may forget the last moments.
 */
export interface Admissions {
  /**
   * Whose the key is, as of now, and one request taken from its organization's quota, together. Undefined, and nothing
   * taken, for a key that is unknown or revoked.
   */
  admitKey(hash: string, day: number): Promise<Admission | undefined>;
  /** The same for an application, whose epoch must be this one. */
  admitApplication(
    organizationId: OrganizationId,
    applicationId: ApplicationId,
    epoch: number,
    day: number,
  ): Promise<Admission | undefined>;
}
