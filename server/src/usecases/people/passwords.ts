import type { Password } from '../../domain/account.ts';
import { invalid, unauthorized } from '../../domain/errors.ts';
import type { IdGenerator } from '../../domain/id.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import { passwordFault } from '../../domain/sign-in.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { PasswordAttempts, Visitor } from './password-attempts.ts';
import type { Sessions, SignedInCall, StartedSession } from './sessions.ts';

/** Slow hashes, so that a stolen store does not reveal passwords. */
export interface Passwords {
  /** With the salt of `sibling`, another hash of the same person, so that comparing with both takes one computation. */
  hash(password: string, sibling?: string): Promise<string>;
  /** The hash that matches. An empty list takes as long as one hash, so that the time does not reveal who exists. */
  find(hashes: readonly string[], password: string): Promise<string | undefined>;
}

interface SignInNeeds {
  readonly store: Pick<Store, 'findPerson' | 'changePassword'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly sha256: (text: string) => string;
  /** By the IP address of the caller. */
  readonly passwords: (address: string) => Passwords;
  readonly attempts: PasswordAttempts;
  readonly sessions: Pick<Sessions, 'start'>;
  readonly authorize: Authorize;
}

export type SignIn = ReturnType<typeof createSignIn>;

/** Signing in with a password, and changing it. */
export function createSignIn(needs: SignInNeeds) {
  const { store, ids, sha256, attempts, sessions, authorize } = needs;
  return { signIn, changePassword };

  /** An unknown address, a wrong password and a person without memberships get the same error after the same work. */
  async function signIn(
    visitor: Visitor,
    { email, password }: { email: string; password: string },
  ): Promise<StartedSession> {
    const passwords = needs.passwords(visitor.address);
    const spelling = normalizeEmail(email) ?? '';
    const started = await attempts.attempt(visitor, { person: spelling }, async (only) => {
      const person = await store.findPerson(spelling);
      const hashes = listHashes(sha256, person?.passwords ?? [], only);
      const passwordHash = await passwords.find(hashes, password);
      if (person === undefined || passwordHash === undefined) return undefined;
      return sessions.start(person.userId, passwordHash, visitor.traceId);
    });
    if (started === undefined) throw unauthorized('Wrong email or password.');
    return started;
  }

  /** Ends the other sessions that the old password covers. Returns the hash of the new one. */
  async function changePassword(
    call: Visitor & SignedInCall,
    { current, next }: { current: string; next: string },
  ): Promise<string> {
    const passwords = needs.passwords(call.address);
    const { userId, email, access } = call.session.session;
    const all = (await store.findPerson(email))?.passwords ?? [];
    const own = all.find(({ id, proven }) => (access.proof === 'sso' ? proven : id === access.passwordId));
    if (own === undefined)
      throw invalid('You do not have a password. You sign in with your identity provider.');
    const proven = await attempts.attempt(call, { person: email }, (only) =>
      passwords.find(listHashes(sha256, [own], only), current),
    );
    if (proven === undefined) throw invalid('The current password is wrong.');
    const fault = passwordFault(next, email);
    if (fault !== undefined) throw invalid(`The new password ${fault}.`);
    const siblings = all.filter(({ id }) => id !== own.id).map(({ hash }) => hash);
    if (siblings.length > 0) {
      // Another password of the person, set through another organization's link and possibly by somebody else. Choosing the
      // same one is a guess at it and counts as an attempt.
      const attempted = { person: email, isChoice: true };
      const found = await attempts.attempt(call, attempted, () => passwords.find(siblings, next));
      if (found !== undefined) {
        throw invalid('Choose a password that you do not already use for another organization here.');
      }
    }
    const nextHash = await passwords.hash(next, siblings[0]);
    const change = { current: own.hash, next: nextHash };
    const note = auditNote(ids, call.initiator, 'password.changed', userId);
    const outcome = await authorize(note.authority, store.changePassword(change, note));
    if (outcome === 'refused')
      throw invalid('Your password has just been changed. Enter the new one as your current password.');
    return nextHash;
  }
}

/** The hashes to compare with: all of them, or `only` that of the password of a known device. */
export function listHashes(
  sha256: (text: string) => string,
  passwords: readonly Password[],
  only: string | undefined,
): string[] {
  const hashes = passwords.map(({ hash }) => hash);
  return only === undefined ? hashes : hashes.filter((hash) => sha256(hash) === only);
}
