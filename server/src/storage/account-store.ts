import type { OrganizationId, UserId } from '../domain/id.ts';
import type { MemberRole } from '../domain/organization.ts';
import type { AuditNote } from './audit-store.ts';

/** How a person proved who they are. */
export type Proof = 'password' | 'sso';

/** A person as they sign in. Service accounts are not found: they cannot. */
export interface Person {
  readonly userId: UserId;
  readonly email: string;
  /** Null before the first password is set. */
  readonly passwordHash: string | null;
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
  /** Whether a new password may be set although the person has one: only the operator, who is trusted by all, may say so. */
  readonly resets: boolean;
}

/** An invitation that can still be used. */
export interface Invitation {
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly userId: UserId;
  readonly email: string;
  /**
   * `choose`: the bearer sets the person's password. `prove`: the person can sign in already, by a password or through
   * a provider, and proves the password. An admin, who sees the link, could otherwise sign in as that person.
   */
  readonly password: 'choose' | 'prove';
  /** What to prove it against. */
  readonly passwordHash: string | null;
}

export interface NewSession {
  /** SHA-256 of the token, in hexadecimal. */
  readonly tokenHash: string;
  readonly userId: UserId;
  readonly proof: Proof;
  /** What the password was proven against; null where it was not a password. */
  readonly passwordHash: string | null;
  readonly idleMs: number;
  readonly lifeMs: number;
}

export interface Session {
  readonly userId: UserId;
  readonly email: string;
  readonly proof: Proof;
  /** When it was used last, to within the pause between two touches. */
  readonly seenAt: number;
  /** The store's time now. */
  readonly now: number;
  /** Undefined where none was asked for, or where the session may not enter it. */
  readonly membership: Membership | undefined;
}

/**
 * People, how they prove who they are, and their sessions.
 *
 * A membership is *opened* by accepting an invitation of its organization. A session that was proven by a password enters
 * opened memberships only; single sign-on, which the operator vouches for, enters all. A password that was chosen through
 * an invitation opens that organization and closes all others of the person.
 */
export interface Accounts {
  /** By normalized address. Undefined also for those who belong to no organization, or as service accounts only. */
  findPerson(email: string): Promise<Person | undefined>;
  /** In order of joining; without those where the person is a service account, and of a password without unopened ones. */
  listMemberships(userId: UserId, proof: Proof): Promise<Membership[]>;
  /** Takes the place of the member's earlier invitation to this organization. */
  createInvitation(
    organizationId: OrganizationId,
    invitation: NewInvitation,
    note: AuditNote,
  ): Promise<'created' | 'not-a-member' | 'service-account'>;
  /** Undefined once it was used, replaced or has expired, and when the person is no longer a member. */
  findInvitation(tokenHash: string): Promise<Invitation | undefined>;
  /**
   * Uses the invitation up and opens the membership. With a `passwordHash`, where it may be chosen, sets it, ends all
   * sessions of the person and closes their other memberships, which is written down there as a change of the password.
   * `refused` where a password may not be chosen, or must be.
   */
  acceptInvitation(
    tokenHash: string,
    acceptance: { readonly passwordHash: string | null },
    note: AuditNote,
  ): Promise<
    | { outcome: 'accepted'; userId: UserId; organizationId: OrganizationId }
    | { outcome: 'missing' | 'refused' }
  >;
  /** Ends all sessions of the person but this one. Written down in every organization they belong to. */
  changePassword(userId: UserId, passwordHash: string, keptTokenHash: string, note: AuditNote): Promise<void>;
  /**
   * Who this subject of a provider is: known from before or, the first time, the person of this address, who is bound to
   * it from then on. Undefined for nobody, for a service account, and for an address that is bound to another subject.
   */
  bindIdentity(issuer: string, subject: string, email: string): Promise<Person | undefined>;
  /**
   * `refused` where it could enter no organization, and where the password is no longer the one that was proven: whoever
   * changes it ends the sessions of those who knew the old one, also of those who are just signing in. Written down in
   * every organization that it may enter.
   */
  createSession(session: NewSession, note: AuditNote): Promise<'created' | 'refused'>;
  /** Undefined once it has ended or expired. Reads committed state every time. */
  findSession(tokenHash: string, organizationId: OrganizationId | undefined): Promise<Session | undefined>;
  /** The session goes on for `idleMs` from now, but not past its life. */
  touchSession(tokenHash: string, idleMs: number): Promise<void>;
  endSession(tokenHash: string): Promise<void>;
  /** Answers how many. Written down in every organization the person belongs to. */
  endSessions(userId: UserId, note: AuditNote): Promise<number>;
  /** `last-admin`: the organization would be left without a person who is an admin, and nothing changes. */
  setMemberRole(
    organizationId: OrganizationId,
    userId: UserId,
    role: MemberRole,
    note: AuditNote,
  ): Promise<'changed' | 'missing' | 'last-admin'>;
}
