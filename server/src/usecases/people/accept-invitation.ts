import type { Acceptance, Password } from '../../domain/account.ts';
import type { Initiator } from '../../domain/audit.ts';
import { invalid, notFound, type ServiceError } from '../../domain/errors.ts';
import { isOrganizationId } from '../../domain/id.ts';
import { isInvitationToken, passwordFault } from '../../domain/sign-in.ts';
import type { Invitation } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { attempt, type Origin } from './passwords.ts';
import { type SignedIn, type StartedSession, startSession } from './sessions.ts';

/** `NOT_FOUND` for every invitation that cannot be used: unknown, used, replaced or expired. */
export async function readInvitation(
  context: Context,
  { token, address }: { token: string; address: string },
  traceId: string,
): Promise<Invitation> {
  const { store, sha256 } = context;
  const invitation = await attempt(context, { person: undefined, address, traceId }, async () =>
    isInvitationToken(token) ? store.findInvitation(sha256(token)) : undefined,
  );
  if (invitation === undefined) throw gone();
  return invitation;
}

/** Opens the membership with the password that the person chooses or proves, and starts a session. */
export async function acceptInvitation(
  context: Context,
  { token, password, ...from }: { token: string; password: string } & Origin,
  traceId: string,
): Promise<StartedSession> {
  const { store, sha256 } = context;
  const invitation = await readInvitation(context, { token, address: from.address }, traceId);
  const { userId, email, resets } = invitation;
  const acceptance = await acceptanceOf(context, invitation, password, { ...from, traceId });
  const initiator = { actor: { kind: 'user', userId }, traceId } as const;
  const notes = {
    accepted: auditNote({ context, initiator }, resets ? 'password.changed' : 'member.joined', userId, {
      email,
      password: acceptance.kind,
    }),
    closed: auditNote({ context, initiator }, 'password.voided', userId, {}),
  };
  const accepted = await store.acceptInvitation(sha256(token), acceptance, notes);
  if (accepted.outcome === 'refused') {
    throw invalid('A password was set in the meantime: open the link again.');
  }
  if (accepted.outcome !== 'accepted') throw gone();
  const passwordHash = acceptance.kind === 'proven' ? acceptance.hash : acceptance.password.hash;
  const started = await startSession(context, userId, passwordHash, traceId);
  if (started === undefined) {
    throw invalid('The password was changed in the meantime: sign in with the new one.');
  }
  return started;
}

/** Accepts a pending membership in a single sign-on session: the provider has proven the address. */
export async function acceptMembership(
  context: Context,
  { session: { userId, email, access } }: SignedIn,
  organizationId: string,
  initiator: Initiator,
): Promise<void> {
  const note = auditNote({ context, initiator }, 'member.joined', userId, { email, password: 'none' });
  const outcome =
    access.proof === 'sso' && isOrganizationId(organizationId)
      ? await context.store.acceptMembership(organizationId, userId, note)
      : 'missing';
  if (outcome === 'missing') throw notFound('There is no invitation to accept.');
}

/**
 * A person with a proven password must enter it. Without one they may choose a password, including the one they set
 * through another organization's link. That comparison counts as an attempt: otherwise links would allow unlimited
 * guessing.
 */
async function acceptanceOf(
  context: Context,
  { terms, resets, passwords: known, email }: Invitation,
  password: string,
  from: Origin & { traceId: string },
): Promise<Acceptance> {
  const { ids, passwords } = context;
  const hashes = known.map(hashOf);
  if (terms === 'sso') throw invalid('You have no password here: sign in through your provider.');
  if (!resets && hashes.length > 0) {
    // A known device may only prove its own password: choosing one is a guess at the others.
    const origin = terms === 'choose' ? { ...from, device: undefined } : from;
    const hash = await attempt(context, { person: email, ...origin }, (only) =>
      passwords.find(known.filter(({ id }) => only === undefined || id === only).map(hashOf), password),
    );
    if (hash !== undefined) return { kind: 'proven', hash };
    // Not UNAUTHORIZED: the console would treat that as an ended session.
    if (terms === 'prove') throw invalid('password: is not the one you sign in with.');
  }
  const fault = passwordFault(password, email);
  if (fault !== undefined) throw invalid(`password: ${fault}.`);
  const hash = await passwords.hash(password, resets ? undefined : hashes[0]);
  return { kind: 'chosen', password: { id: ids.password(), hash } };
}

function hashOf({ hash }: Password): string {
  return hash;
}

function gone(): ServiceError {
  return notFound('This link has been used or has expired: ask for a new one.');
}
