import type { Acceptance, Access, InvitationTerms, Password } from '../domain/account.ts';
import type { OrganizationId, UserId } from '../domain/id.ts';
import type { MemberRole } from '../domain/organization.ts';
import type { AuditNote } from './audit-store.ts';

/** A person as they sign in. Service accounts are not found: they cannot. */
export interface Person {
  readonly userId: UserId;
  readonly email: string;
  /** Those that can be signed in with, oldest first: one that is proven, or one per set of memberships accepted with it. */
  readonly passwords: readonly Password[];
}

/** An organization that a session may enter. */
export interface Membership {
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly apiEnabled: boolean;
  readonly role: MemberRole;
}

export interface NewInvitation {
  /** SHA-256 of the token, in hexadecimal. */
  readonly tokenHash: string;
  readonly userId: UserId;
  readonly keepMs: number;
  readonly byOperator: boolean;
  /** Whether a new password may replace a proven one. Implies `byOperator`. */
  readonly resets: boolean;
}

/** An invitation that can still be used. */
export interface Invitation {
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly userId: UserId;
  readonly email: string;
  readonly terms: InvitationTerms;
  readonly byOperator: boolean;
  readonly resets: boolean;
  /** Of the person. */
  readonly passwords: readonly Password[];
}

/** What a session may enter, and what it may accept. */
export interface Memberships {
  readonly entered: readonly Membership[];
  readonly pending: readonly Membership[];
}

export interface NewSession {
  /** SHA-256 of the token, in hexadecimal. */
  readonly tokenHash: string;
  readonly userId: UserId;
  /** What the password was proven against; null for single sign-on. */
  readonly passwordHash: string | null;
  readonly idleMs: number;
  readonly lifeMs: number;
}

export interface Session {
  readonly userId: UserId;
  readonly email: string;
  readonly access: Access;
  /** When it was used last, to within the pause between two touches. */
  readonly seenAt: number;
  /** The store's time now. */
  readonly now: number;
  /** Undefined where none was asked for, and where the session may not enter it. */
  readonly membership: Membership | undefined;
}

/**
 * People, how they prove who they are, and their sessions. `domain/account.ts` decides what a proof is worth; the store
 * gives it the facts of one transaction, and does what it decides in that transaction.
 */
export interface Accounts {
  /** By normalized address. Undefined also for those who belong to no organization, or as service accounts only. */
  findPerson(email: string): Promise<Person | undefined>;
  /** In order of joining. */
  listMemberships(userId: UserId, access: Access): Promise<Memberships>;
  /** Takes the place of the member's earlier invitation to this organization. */
  createInvitation(
    organizationId: OrganizationId,
    invitation: NewInvitation,
    note: AuditNote,
  ): Promise<'created' | 'not-a-member' | 'service-account'>;
  /** Undefined once it was used, replaced or has expired, and when the person is no longer a member. */
  findInvitation(tokenHash: string): Promise<Invitation | undefined>;
  /**
   * Uses the invitation up and opens the membership as `planAcceptance` says; `refused` where it does not allow it. Where
   * other memberships close, that is written down in their organizations. Personal keys of a membership that was accepted
   * with a voided unproven password are revoked, except those the operator made.
   */
  acceptInvitation(
    tokenHash: string,
    acceptance: Acceptance,
    note: AuditNote,
  ): Promise<
    | { outcome: 'accepted'; userId: UserId; organizationId: OrganizationId }
    | { outcome: 'missing' | 'refused' }
  >;
  /** Opens a membership that waits to be accepted, for a person whose address is proven. Uses its invitation up. */
  acceptMembership(
    organizationId: OrganizationId,
    userId: UserId,
    note: AuditNote,
  ): Promise<'accepted' | 'missing'>;
  /**
   * Ends the sessions that the password covers, but not this one: its own, or all of the person if it is proven. Written
   * down in every organization that the password enters. `refused` where `passwordToChange` finds none.
   */
  changePassword(
    userId: UserId,
    change: { readonly current: string; readonly next: string; readonly keptTokenHash: string },
    note: AuditNote,
  ): Promise<'changed' | 'refused'>;
  /**
   * Who this subject of a provider is: known from before or, the first time, the person of this address, who is bound to
   * it from then on. Undefined for nobody, for a service account, and for an address that is bound to another subject.
   * Binding voids the unproven passwords of the person, with their sessions and the memberships accepted with them, as
   * `acceptInvitation` does; `note` is written down there.
   */
  bindIdentity(
    issuer: string,
    subject: string,
    email: string,
    note: Omit<AuditNote, 'actor' | 'subject'>,
  ): Promise<Person | undefined>;
  /**
   * `refused` where it could neither enter nor accept a membership, and where the password is no longer the one that was
   * proven: whoever changes it ends the sessions of those who knew the old one, also of those who are just signing in.
   * Written down in every organization that it may enter.
   */
  createSession(session: NewSession, note: AuditNote): Promise<'created' | 'refused'>;
  /** Undefined once it has ended or expired. Reads committed state every time. */
  findSession(tokenHash: string, organizationId: OrganizationId | undefined): Promise<Session | undefined>;
  /** The session goes on for `idleMs` from now, but not past its life. */
  touchSession(tokenHash: string, idleMs: number): Promise<void>;
  endSession(tokenHash: string): Promise<void>;
  /** All that this session's proof covers, itself included; answers how many. Written down where the proof enters. */
  endSessions(userId: UserId, access: Access, note: AuditNote): Promise<number>;
  /** `last-admin`: the organization would be left without a person who is an admin, and nothing changes. */
  setMemberRole(
    organizationId: OrganizationId,
    userId: UserId,
    role: MemberRole,
    note: AuditNote,
  ): Promise<'changed' | 'missing' | 'last-admin'>;
}
