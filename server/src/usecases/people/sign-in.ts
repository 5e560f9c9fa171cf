import { ServiceError } from '../../domain/errors.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import type { Context } from '../context.ts';
import { attempt, type Origin } from './attempt-password.ts';
import { type StartedSession, startSession } from './start-session.ts';

/**
 * A session for whoever knows the person's password. An unknown address, a wrong password and a person who belongs nowhere
 * get the same answer after the same work: who is known here is nobody's business.
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
