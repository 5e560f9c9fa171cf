import { ServiceError } from '../../domain/errors.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import type { Context } from '../context.ts';
import { attempt, type Origin } from './attempt-password.ts';
import { type StartedSession, startSession } from './sessions.ts';

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
    return startSession(context, person.userId, { proof: 'password', passwordHash }, traceId);
  });
  if (started === undefined) throw new ServiceError('UNAUTHORIZED', 'The address or the password is wrong.');
  return started;
}
