import { type Acceptance, closesOtherMemberships } from '../../domain/account.ts';
import { invalid, notFound, type ServiceError } from '../../domain/errors.ts';
import { isOrganizationId } from '../../domain/id.ts';
import { passwordFault } from '../../domain/sign-in.ts';
import type { Invitation } from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import { auditNote } from '../organization/audit-log.ts';
import { attempt, hashesOf, type VisitorCall } from './passwords.ts';
import { otherMemberships, type SignedInCall, type StartedSession, startSession } from './sessions.ts';

/** `NOT_FOUND` for every invitation that cannot be used: unknown, used, replaced or expired. */
export async function readInvitation(call: VisitorCall, token: string): Promise<Invitation> {
  const { store, sha256 } = call.context;
  const invitation = await attempt(call, {}, async () =>
    /^inv_[\w-]{32}$/.test(token) ? store.findInvitation(sha256(token)) : undefined,
  );
  if (invitation === undefined) throw gone();
  return invitation;
}

/** What using the link ends: other memberships, by their number, and API keys. */
export async function endedByInvitation(
  { context }: VisitorCall,
  invitation: Invitation,
): Promise<{ memberships: number; keys: boolean }> {
  const { organizationId, userId, resets, passwords } = invitation;
  const closes = closesOtherMemberships(invitation);
  return {
    memberships: closes ? (await otherMemberships(context, organizationId, userId)).length : 0,
    keys: resets && passwords.some(({ proven }) => !proven),
  };
}

export async function acceptInvitation(
  call: VisitorCall,
  { token, password }: { token: string; password: string },
): Promise<StartedSession> {
  const { store, sha256 } = call.context;
  const invitation = await readInvitation(call, token);
  const { userId, email, resets } = invitation;
  const acceptance = await acceptanceOf(call, invitation, password);
  const initiator = { authority: { kind: 'proof', userId }, traceId: call.traceId } as const;
  const change = { ...call, initiator };
  const detail = { email, password: acceptance.kind };
  const notes = {
    accepted: auditNote(change, resets ? 'password.changed' : 'member.joined', userId, detail),
    closed: auditNote(change, 'password.voided', userId),
  };
  const outcome = await store.acceptInvitation(sha256(token), acceptance, notes);
  if (outcome === 'refused') {
    throw invalid('The invitation has changed since you opened the link. Open the link again.');
  }
  if (outcome === 'missing') throw gone();
  const passwordHash = acceptance.kind === 'proven' ? acceptance.hash : acceptance.password.hash;
  const started = await startSession(call, userId, passwordHash);
  if (started === undefined) {
    throw invalid('Your password has just been changed. Sign in with the new one.');
  }
  return started;
}

/** Accepts a pending membership in a single sign-on session: the provider has proven the address. */
export async function acceptMembership(call: SignedInCall, organizationId: string): Promise<void> {
  const { userId, email, access } = call.session.session;
  const note = auditNote(call, 'member.joined', userId, { email, password: 'none' });
  const outcome =
    access.proof === 'sso' && isOrganizationId(organizationId)
      ? await authorize(
          call.context,
          note.authority,
          call.context.store.acceptMembership(organizationId, note),
        )
      : 'missing';
  if (outcome === 'missing') throw notFound('This invitation is no longer valid.');
}

/**
 * A person with a proven password must enter it. Others choose one, possibly one that they set through another link. That
 * comparison counts as an attempt: otherwise links would allow unlimited guessing.
 */
async function acceptanceOf(
  call: VisitorCall,
  { terms, resets, passwords: known, email }: Invitation,
  password: string,
): Promise<Acceptance> {
  const { ids } = call.context;
  const passwords = call.context.passwords(call.address);
  if (terms === 'sso') throw invalid('You do not have a password. Sign in with your identity provider.');
  if (terms === 'operator')
    throw invalid(
      'You already have threads or an API key here. Ask the operator of this service for a link.',
    );
  if (!resets && known.length > 0) {
    const attempted = { person: email, isChoice: terms === 'choose' };
    const hash = await attempt(call, attempted, (only) =>
      passwords.find(hashesOf(call.context, known, only), password),
    );
    if (hash !== undefined) return { kind: 'proven', hash };
    // Not UNAUTHORIZED: the console would treat that as an ended session.
    if (terms === 'prove') throw invalid('The password is wrong. Enter the one you sign in with.');
  }
  const fault = passwordFault(password, email);
  if (fault !== undefined) throw invalid(`The password ${fault}.`);
  const hash = await passwords.hash(password, resets ? undefined : known[0]?.hash);
  return { kind: 'chosen', password: { id: ids.password(), hash } };
}

function gone(): ServiceError {
  return notFound('This link has been used or has expired. Ask for a new one.');
}
