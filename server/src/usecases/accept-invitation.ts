import { ServiceError } from '../domain/errors.ts';
import { passwordFault } from '../domain/password.ts';
import { isInvitationToken } from '../domain/sign-in-token.ts';
import type { Invitation } from '../storage/store.ts';
import { attempt } from './attempt-password.ts';
import { auditNote } from './audit-note.ts';
import type { Context } from './context.ts';
import { type StartedSession, startSession } from './start-session.ts';

/** What the invitation is for. `NOT_FOUND` alike for one that was used, replaced, has expired or never was. */
export async function readInvitation(
  context: Context,
  { token, address }: { token: string; address: string },
): Promise<Invitation> {
  const invitation = await attempt(context, { person: undefined, address }, () =>
    findInvitation(context, token),
  );
  if (invitation === undefined) throw gone();
  return invitation;
}

/** Opens the organization to the person, with the password they choose or prove, and begins a session. */
export async function acceptInvitation(
  context: Context,
  { token, password, address }: { token: string; password: string; address: string },
  traceId: string,
): Promise<StartedSession> {
  const { store, passwords, sha256 } = context;
  const invitation = await readInvitation(context, { token, address });
  const { userId, email } = invitation;
  const chosen = invitation.password === 'choose' ? await passwords.hash(checked(password, email)) : null;
  const passwordHash = chosen ?? (await provePassword(context, invitation, password, address));
  const doer = { actor: { kind: 'user', userId }, traceId } as const;
  const note = auditNote(context, doer, 'member.joined', userId, {
    email,
    password: invitation.password === 'prove' ? 'proven' : 'chosen',
  });
  const accepted = await store.acceptInvitation(sha256(token), { passwordHash: chosen }, note);
  if (accepted.outcome === 'refused') {
    throw new ServiceError('INVALID_PARAMS', 'A password was set meanwhile: open the link again.');
  }
  if (accepted.outcome !== 'accepted') throw gone();
  const started = await startSession(context, userId, { proof: 'password', passwordHash }, traceId);
  if (started === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'The password was changed meanwhile: sign in with the new one.');
  }
  return started;
}

async function findInvitation({ store, sha256 }: Context, token: string): Promise<Invitation | undefined> {
  return isInvitationToken(token) ? store.findInvitation(sha256(token)) : undefined;
}

/** Answers what it was proven against. */
async function provePassword(
  context: Context,
  { email, passwordHash }: Invitation,
  password: string,
  address: string,
): Promise<string> {
  const isRight = await attempt(context, { person: email, address }, async () =>
    (await context.passwords.verify(passwordHash, password)) ? true : undefined,
  );
  // Not UNAUTHORIZED: nobody's session has ended.
  if (!isRight || passwordHash === null) {
    throw new ServiceError('INVALID_PARAMS', 'password: is not the one you sign in with.');
  }
  return passwordHash;
}

function checked(password: string, email: string): string {
  const fault = passwordFault(password, email);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `password: ${fault}.`);
  return password;
}

function gone(): ServiceError {
  return new ServiceError('NOT_FOUND', 'This invitation was used or has expired: ask for a new one.');
}
