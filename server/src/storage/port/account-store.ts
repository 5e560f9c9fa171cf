import type { Acceptance, Access, InvitationTerms, Invitee, Password } from '../../domain/account.ts';
import type { Authority, OwnAuthority, ProofAuthority, SessionAuthority } from '../../domain/authority.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { AuditedMethod, AuditNote, Unauthorized } from './log-store.ts';

/** A person who can sign in, which a service account cannot. */
export interface Person {
  readonly userId: UserId;
  readonly email: string;
  /** The passwords that can be used to sign in, oldest first: a proven one, or one per set of memberships accepted with it. */
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
  /** Whether a new password may replace a proven one. Without `byOperator`, the link is only sent by email. */
  readonly resets: boolean;
  /** The link, sealed, if it is to be sent by email; otherwise null. */
  readonly sealedLink: string | null;
  /** Set if the person asked for the link: at most `personMax` are created for one person on one day. */
  readonly requested?: { readonly person: UserId; readonly personMax: number };
}

/** An invitation that a process has claimed to send it by email. */
export interface ClaimedMail extends Omit<Invitation, 'terms' | 'shownToAdmin' | keyof Invitee> {
  readonly tokenHash: string;
  readonly sealedLink: string;
  readonly expiresAt: number;
  /** Including this one. */
  readonly attempts: number;
}

/** An invitation that can still be used. */
export interface Invitation extends Person, Invitee, Pick<Membership, 'organizationId' | 'organizationName'> {
  readonly terms: InvitationTerms;
  readonly byOperator: boolean;
  readonly resets: boolean;
  readonly shownToAdmin: boolean;
}

/** The memberships that a session may enter, and those that it may accept. */
export interface Memberships {
  readonly entered: readonly Membership[];
  readonly pending: readonly Membership[];
}

export interface NewSession {
  readonly tokenHash: string;
  readonly userId: UserId;
  /** The hash that the password was checked against; null for single sign-on. */
  readonly passwordHash: string | null;
  readonly idleMs: number;
  readonly lifeMs: number;
}

export interface Session extends Omit<Person, 'passwords'> {
  readonly access: Access;
  /** As of the last `touchSession`. */
  readonly seenAt: number;
  /** The store's time now. */
  readonly now: number;
  /** Undefined if none was asked for or the session may not enter it. */
  readonly membership: Membership | undefined;
}

/**
 * People, how they prove who they are, and their sessions. `domain/account.ts` decides what a proof permits; the store
 * reads the facts and applies the decision in one transaction. This also holds for `Invitations`.
 */
export interface Accounts {
  /** By normalized address. Also undefined for a user who is a member of no organization, or only as a service account. */
  findPerson(email: string): Promise<Person | undefined>;
  /** In the order of joining. */
  listMemberships(userId: UserId, access: Access): Promise<Memberships>;
  /**
   * Opens a pending membership of the person, whose session was started through single sign-on. Uses up its invitation.
   */
  acceptMembership: AuditedMethod<[], 'accepted' | 'missing', SessionAuthority>;
  /**
   * Ends the person's other sessions that the password covers and, if it is proven, links by which the person could replace it, but
   * not those of the operator. Each organization that the password enters gets the note. `refused` if `passwordToChange`
   * finds no password.
   */
  changePassword(
    change: { readonly current: string; readonly next: string },
    note: AuditNote<SessionAuthority>,
  ): Promise<'changed' | 'refused' | Unauthorized>;
  /**
   * The person bound to this subject of a provider, or else the person with this address, who is then bound to it.
   * Undefined for an unknown address, a service account, and an address that is bound to another subject. Binding voids the
   * unproven passwords of the person with their sessions and the memberships accepted with them, whose organizations get
   * the note.
   */
  bindIdentity(
    issuer: string,
    subject: string,
    email: string,
    note: Omit<AuditNote, 'authority' | 'subject'>,
  ): Promise<UserId | undefined>;
  /**
   * `refused` if the session could neither enter nor accept a membership, or if the password was changed since it was
   * checked. Each organization that the session may enter gets the note.
   */
  createSession(session: NewSession, note: AuditNote<ProofAuthority>): Promise<'created' | 'refused'>;
  /** Undefined if it has ended or expired. Reads committed state every time. */
  findSession(tokenHash: string, organizationId: OrganizationId | undefined): Promise<Session | undefined>;
  /** Extends the session to `idleMs` from now, but not past its end. */
  touchSession(tokenHash: string, idleMs: number): Promise<void>;
  /** Each organization that a live session enters gets the note, if there is one. */
  endSession(tokenHash: string, note?: AuditNote<ProofAuthority>): Promise<void>;
  /**
   * Ends the sessions that the proof of this session covers, including itself, and returns their number. Each organization
   * that it enters gets the note.
   */
  endSessions(note: AuditNote<SessionAuthority>): Promise<number | Unauthorized>;
}

/** An email to send is part of its invitation. The link is kept only until the email is sent or given up. */
export interface Invitations {
  /**
   * Replaces the member's earlier invitation to this organization. A `requested` link leaves it valid, and replaces only a
   * requested link that has expired or whose email was given up (otherwise `live`). Only created links are counted.
   * `operator-only`: an admin must not see a link for this person, see `invitationTerms`.
   */
  createInvitation: AuditedMethod<
    [invitation: NewInvitation],
    'created' | 'not-a-member' | 'service-account' | 'operator-only' | 'live' | 'person-limit',
    Authority | OwnAuthority
  >;
  findInvitation(tokenHash: string): Promise<Invitation | undefined>;
  /**
   * Uses up the invitation and applies `planAcceptance`; `refused` if the plan does not allow it. `notes.accepted` goes to
   * the organization, and after a reset to every one that the person is in. Organizations whose memberships close get
   * `notes.closed`. Personal keys of a membership that was accepted with a voided unproven password are revoked, except
   * those that the operator made.
   */
  acceptInvitation(
    tokenHash: string,
    acceptance: Acceptance,
    notes: { readonly accepted: AuditNote<ProofAuthority>; readonly closed: AuditNote<ProofAuthority> },
  ): Promise<'accepted' | 'missing' | 'refused'>;
  /**
   * Claims an email that is due: no other process gets it within `leaseMs`. Organizations take turns in the order of their
   * ids, starting after `after`. A claim may be lost in a power cut.
   */
  claimMail(after: string, leaseMs: number): Promise<ClaimedMail | undefined>;
  /** Ends the claim, unless the invitation is gone or replaced. If the email was claimed again, only `sent` is recorded. */
  settleMail(
    mail: ClaimedMail,
    outcome:
      | { readonly state: 'sent' }
      | { readonly state: 'waiting'; readonly retryMs: number }
      | { readonly state: 'failed'; readonly note: AuditNote<OwnAuthority> },
  ): Promise<void>;
}
