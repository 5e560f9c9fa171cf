import type { Doer } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import { passwordFault } from '../domain/password.ts';
import { attempt } from './attempt-password.ts';
import { auditNote } from './audit-note.ts';
import type { Context } from './context.ts';
import type { SignedIn } from './read-session.ts';

/** Ends the person's other sessions: whoever knew the old password is out. */
export async function changePassword(
  context: Context,
  { session: { userId, email }, tokenHash }: SignedIn,
  { current, next, address }: { current: string; next: string; address: string },
  doer: Doer,
): Promise<void> {
  const { store, passwords } = context;
  const person = await store.findPerson(email);
  if (person === undefined || person.passwordHash === null) {
    throw new ServiceError('INVALID_PARAMS', 'You have no password here: you sign in through your provider.');
  }
  const isRight = await attempt(context, { person: email, address }, async () =>
    (await passwords.verify(person.passwordHash, current)) ? true : undefined,
  );
  if (!isRight) throw new ServiceError('INVALID_PARAMS', 'current: is not your password.');
  const fault = passwordFault(next, email);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `next: ${fault}.`);
  const note = auditNote(context, doer, 'password.changed', userId);
  await store.changePassword(userId, await passwords.hash(next), tokenHash, note);
}
