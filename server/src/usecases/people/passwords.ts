import type { Initiator } from '../../domain/audit.ts';
import { invalid, ServiceError } from '../../domain/errors.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import { passwordFault } from '../../domain/sign-in.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { attempt, type Origin } from './attempt-password.ts';
import { type SignedIn, type StartedSession, startSession } from './sessions.ts';

/**
 * Starts a session with a password. An unknown address, a wrong password and a person without memberships get the same
 * error after the same work, so that callers cannot find out who has an account.
 */
export async function signIn(
  context: Context,
  { email, password, ...from }: { email: string; password: string } & Origin,
  traceId: string,
): Promise<StartedSession> {
  const { store, passwords } = context;
  const spelling = normalizeEmail(email) ?? '';
  const started = await attempt(context, { person: spelling, ...from, traceId }, async (only) => {
    const person = await store.findPerson(spelling);
    const tried = person?.passwords.filter(({ id }) => only === undefined || id === only) ?? [];
    const hashes = tried.map(({ hash }) => hash);
    const passwordHash = await passwords.find(hashes, password);
    if (person === undefined || passwordHash === undefined) return undefined;
    return startSession(context, person.userId, passwordHash, traceId);
  });
  if (started === undefined) throw new ServiceError('UNAUTHORIZED', 'Wrong email or password.');
  return started;
}

/** Ends the other sessions that the old password covers. */
export async function changePassword(
  context: Context,
  { session: { userId, email, access }, tokenHash }: SignedIn,
  { current, next, ...from }: { current: string; next: string } & Origin,
  initiator: Initiator,
): Promise<void> {
  const { store, passwords } = context;
  const all = (await store.findPerson(email))?.passwords ?? [];
  const own = all.find(({ id, proven }) => (access.proof === 'sso' ? proven : id === access.passwordId));
  if (own === undefined) {
    throw invalid('You have no password here: you sign in through your provider.');
  }
  const attempted = { person: email, ...from, traceId: initiator.traceId };
  const proven = await attempt(context, attempted, (only = own.id) =>
    passwords.find(only === own.id ? [own.hash] : [], current),
  );
  if (proven === undefined) throw invalid('current: is not your password.');
  const fault = passwordFault(next, email);
  if (fault !== undefined) throw invalid(`next: ${fault}.`);
  const siblings = all.filter(({ id }) => id !== own.id).map(({ hash }) => hash);
  if (siblings.length > 0) {
    // Another password of the person, set through another organization's link and possibly by somebody else. Choosing the
    // same one is a guess at it and counts as an attempt. A known device may only prove its own password.
    const found = await attempt(context, { ...attempted, device: undefined }, () =>
      passwords.find(siblings, next),
    );
    if (found !== undefined) {
      throw invalid('next: choose a password that you do not use for another organization here.');
    }
  }
  const outcome = await store.changePassword(
    userId,
    { current: own.hash, next: await passwords.hash(next, siblings[0]), keptTokenHash: tokenHash },
    auditNote(context, initiator, 'password.changed', userId),
  );
  if (outcome === 'refused') {
    throw invalid('current: the password was changed in the meantime.');
  }
}
