import { ServiceError } from '../../domain/errors.ts';
import { isOrganizationId, type OrganizationId, type UserId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Membership, Memberships, Session } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/** A person whose session is good. */
export interface SignedIn {
  readonly session: Session;
  readonly tokenHash: string;
}

/** A person in one of their organizations. */
export interface EnteredSession extends SignedIn {
  readonly membership: Membership;
  readonly principal: UserPrincipal;
}

/** Of how long a session lasts unused: more often than this it is not written that it was used. */
const touchesPerIdle = 20;
const touchPauseMsMax = 60_000;

/** Reads committed state every time: a session that was ended anywhere is `UNAUTHORIZED` with the next request. */
export async function readSession(context: Context, tokenHash: string): Promise<SignedIn> {
  return { session: await currentSession(context, tokenHash, undefined), tokenHash };
}

/** `NOT_FOUND` alike for an organization that is not there and one that this session may not enter. */
export async function enterOrganization(
  context: Context,
  tokenHash: string,
  organizationId: string,
): Promise<EnteredSession> {
  const known = isOrganizationId(organizationId) ? organizationId : undefined;
  const session = await currentSession(context, tokenHash, known);
  const { membership, userId } = session;
  if (membership === undefined) throw new ServiceError('NOT_FOUND', 'No such organization.');
  return { session, tokenHash, membership, principal: personIn(membership.organizationId, userId) };
}

export function personIn(organizationId: OrganizationId, userId: UserId): UserPrincipal {
  return { kind: 'user', organizationId, userId, keyHash: null };
}

async function currentSession(
  { store, limits: { sessionIdleMs } }: Context,
  tokenHash: string,
  organizationId: OrganizationId | undefined,
): Promise<Session> {
  const session = await store.findSession(tokenHash, organizationId);
  if (session === undefined) throw signedOut();
  const touchPauseMs = Math.min(touchPauseMsMax, sessionIdleMs / touchesPerIdle);
  if (session.now - session.seenAt >= touchPauseMs) await store.touchSession(tokenHash, sessionIdleMs);
  return session;
}

/** The organizations of the signed-in person. `UNAUTHORIZED` for a person who was removed from the last one. */
export async function readMemberships({ store }: Context, { session }: SignedIn): Promise<Memberships> {
  const memberships = await store.listMemberships(session.userId, session.access);
  if (memberships.entered.length + memberships.pending.length === 0) throw signedOut();
  return memberships;
}

export function signedOut(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'You are not signed in, or your session has ended: sign in.');
}
