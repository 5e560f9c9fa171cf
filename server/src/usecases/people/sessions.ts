import type { Initiator } from '../../domain/audit.ts';
import type { SessionAuthority } from '../../domain/authority.ts';
import { randomText } from '../../domain/credential.ts';
import { forbidden, organizationNotFound, type ServiceError, unauthorized } from '../../domain/errors.ts';
import { type IdGenerator, isOrganizationId, type OrganizationId, type UserId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Membership, Memberships, Session, Store } from '../../storage/port/store.ts';
import { auditNote } from '../audit-note.ts';

export interface SignedIn {
  readonly session: Session;
  readonly tokenHash: string;
}

/** What a use case about the person's own account needs from its caller. Calls of console routes have these fields. */
export interface SignedInCall {
  readonly session: SignedIn;
  readonly initiator: Initiator<SessionAuthority>;
}

export interface EnteredSession extends SignedIn {
  readonly membership: Membership;
  readonly principal: UserPrincipal & { readonly authority: SessionAuthority };
}

export interface StartedSession {
  /** Only the person's browser keeps it: the store has a hash. */
  readonly token: string;
  readonly userId: UserId;
  /** Null for single sign-on. */
  readonly passwordHash: string | null;
}

/** A session's use is written at most this often per idle time, and at most once a minute. */
const touchesPerIdle = 20;
const touchPauseMsMax = 60_000;

interface SessionNeeds {
  readonly store: Pick<Store, 'createSession' | 'findSession' | 'touchSession' | 'listMemberships'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly sha256: (text: string) => string;
  readonly limits: Pick<Limits, 'sessionIdleMs' | 'sessionLifeMs'>;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions of the console: how they start, what they may enter, and that they have not ended. */
export function createSessions({ store, ids, randomBytes, sha256, limits }: SessionNeeds) {
  return { start, read, enter, recheck, memberships, otherMemberships };

  /**
   * Undefined if the session could neither enter nor accept a membership, or if the password has changed since it was
   * checked against `passwordHash`, which is null for single sign-on. Audited in each organization that it can enter.
   */
  async function start(
    userId: UserId,
    passwordHash: string | null,
    traceId: string,
  ): Promise<StartedSession | undefined> {
    // 256 bits.
    const token = randomText(randomBytes, 43);
    const { sessionIdleMs: idleMs, sessionLifeMs: lifeMs } = limits;
    const initiator = { authority: { kind: 'proof', userId }, traceId } as const;
    const proof = passwordHash === null ? 'sso' : 'password';
    const note = auditNote(ids, initiator, 'session.started', userId, { proof });
    const session = { tokenHash: sha256(token), userId, passwordHash, idleMs, lifeMs };
    return (await store.createSession(session, note)) === 'created'
      ? { token, userId, passwordHash }
      : undefined;
  }

  /** Reads the store on every call: a session that was ended on any node is `UNAUTHORIZED` from then on. */
  async function read(tokenHash: string, extend = true, organizationId?: OrganizationId): Promise<SignedIn> {
    const session = await store.findSession(tokenHash, organizationId);
    if (session === undefined) throw signedOut();
    const { sessionIdleMs } = limits;
    const touchPauseMs = Math.min(touchPauseMsMax, sessionIdleMs / touchesPerIdle);
    if (extend && session.now - session.seenAt >= touchPauseMs)
      await store.touchSession(tokenHash, sessionIdleMs);
    return { session, tokenHash };
  }

  async function enter(tokenHash: string, organizationId: string, extend = true): Promise<EnteredSession> {
    const known = isOrganizationId(organizationId) ? organizationId : undefined;
    const { session } = await read(tokenHash, extend, known);
    const { membership, userId } = session;
    if (membership === undefined) throw organizationNotFound();
    const authority = sessionAuthority({ session, tokenHash }, membership.organizationId);
    const principal = { organizationId: membership.organizationId, userId, authority };
    return { session, tokenHash, membership, principal };
  }

  /** Rejects unless a new request of the session could do what its authority says. */
  async function recheck({ sessionHash, organizationId, role }: SessionAuthority): Promise<void> {
    if (organizationId === null) await read(sessionHash, false);
    else assertRole(await enter(sessionHash, organizationId, false), role);
  }

  /** The organizations of the signed-in person. `UNAUTHORIZED` for a person who was removed from the last one. */
  async function memberships({ session }: SignedIn): Promise<Memberships> {
    const memberships = await store.listMemberships(session.userId, session.access);
    if (memberships.entered.length + memberships.pending.length === 0) throw signedOut();
    return memberships;
  }

  /** The memberships of a person, joined with any proof, in organizations other than this one. */
  async function otherMemberships(organizationId: OrganizationId, userId: UserId): Promise<Membership[]> {
    const { entered } = await store.listMemberships(userId, { proof: 'sso' });
    return entered.filter((membership) => membership.organizationId !== organizationId);
  }
}

/** Without an organization, for the person's own account. */
export function sessionAuthority(
  { session, tokenHash }: SignedIn,
  organizationId: OrganizationId | null = null,
  role: MemberRole = 'member',
): SessionAuthority {
  return { kind: 'session', userId: session.userId, sessionHash: tokenHash, organizationId, role };
}

export function assertRole({ membership }: EnteredSession, role: MemberRole): void {
  if (role === 'admin' && membership.role !== 'admin')
    throw forbidden('Only an admin of the organization may do this.');
}

export function signedOut(): ServiceError {
  return unauthorized('You are not signed in, or your session has ended. Sign in and try again.');
}
