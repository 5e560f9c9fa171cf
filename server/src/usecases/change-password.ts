import type { Doer } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import { passwordFault } from '../domain/password.ts';
import { attempt, type Origin } from './attempt-password.ts';
import { auditNote } from './audit-note.ts';
import type { Context } from './context.ts';
import type { SignedIn } from './read-session.ts';

/** Ends the other sessions that the password covers: whoever knew the old one is out. */
export async function changePassword(
  context: Context,
  { session: { userId, email, access }, tokenHash }: SignedIn,
  { current, next, ...from }: { current: string; next: string } & Origin,
  doer: Doer,
): Promise<void> {
  const { store, passwords } = context;
  const all = (await store.findPerson(email))?.passwords ?? [];
  const own = all.find(({ id, proven }) => (access.proof === 'sso' ? proven : id === access.passwordId));
  if (own === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'You have no password here: you sign in through your provider.');
  }
  const attempted = { person: email, ...from, traceId: doer.traceId };
  const proven = await attempt(context, attempted, (only = own.id) =>
    passwords.find(only === own.id ? [own.hash] : [], current),
  );
  if (proven === undefined) throw new ServiceError('INVALID_PARAMS', 'current: is not your password.');
  const fault = passwordFault(next, email);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `next: ${fault}.`);
  const sibling = all.find(({ id }) => id !== own.id)?.hash;
  const outcome = await store.changePassword(
    userId,
    { current: own.hash, next: await passwords.hash(next, sibling), keptTokenHash: tokenHash },
    auditNote(context, doer, 'password.changed', userId),
  );
  if (outcome === 'refused') {
    throw new ServiceError('INVALID_PARAMS', 'current: the password was changed meanwhile.');
  }
}
