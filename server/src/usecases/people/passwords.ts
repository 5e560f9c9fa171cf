import type { Password } from '../../domain/account.ts';
import { toNetwork } from '../../domain/address.ts';
import type { AttemptLimit } from '../../domain/attempts.ts';
import { openValue, sealValue } from '../../domain/cursor.ts';
import { invalid, rateLimited, unauthorized } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import { type KnownDevice, passwordFault } from '../../domain/sign-in.ts';
import { dayMs } from '../../domain/time.ts';
import { authorize } from '../authorize.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { type SignedInCall, type StartedSession, startSession } from './sessions.ts';

/** An unknown address, a wrong password and a person without memberships get the same error after the same work. */
export async function signIn(
  call: VisitorCall,
  { email, password }: { email: string; password: string },
): Promise<StartedSession> {
  const { store } = call.context;
  const passwords = call.context.passwords(call.address);
  const spelling = normalizeEmail(email) ?? '';
  const started = await attempt(call, { person: spelling }, async (only) => {
    const person = await store.findPerson(spelling);
    const hashes = hashesOf(call.context, person?.passwords ?? [], only);
    const passwordHash = await passwords.find(hashes, password);
    if (person === undefined || passwordHash === undefined) return undefined;
    return startSession(call, person.userId, passwordHash);
  });
  if (started === undefined) throw unauthorized('Wrong email or password.');
  return started;
}

/** The hashes to compare with: all of them, or `only` that of the password of a known device. */
export function hashesOf(
  { sha256 }: Pick<Context, 'sha256'>,
  passwords: readonly Password[],
  only: string | undefined,
): string[] {
  const hashes = passwords.map(({ hash }) => hash);
  return only === undefined ? hashes : hashes.filter((hash) => sha256(hash) === only);
}

/** Ends the other sessions that the old password covers. Returns the hash of the new one. */
export async function changePassword(
  call: VisitorCall & SignedInCall,
  { current, next }: { current: string; next: string },
): Promise<string> {
  const { store } = call.context;
  const passwords = call.context.passwords(call.address);
  const { userId, email, access } = call.session.session;
  const all = (await store.findPerson(email))?.passwords ?? [];
  const own = all.find(({ id, proven }) => (access.proof === 'sso' ? proven : id === access.passwordId));
  if (own === undefined)
    throw invalid('You do not have a password. You sign in with your identity provider.');
  const proven = await attempt(call, { person: email }, (only) =>
    passwords.find(hashesOf(call.context, [own], only), current),
  );
  if (proven === undefined) throw invalid('The current password is wrong.');
  const fault = passwordFault(next, email);
  if (fault !== undefined) throw invalid(`The new password ${fault}.`);
  const siblings = all.filter(({ id }) => id !== own.id).map(({ hash }) => hash);
  if (siblings.length > 0) {
    // Another password of the person, set through another organization's link and possibly by somebody else. Choosing the
    // same one is a guess at it and counts as an attempt.
    const attempted = { person: email, isChoice: true };
    const found = await attempt(call, attempted, () => passwords.find(siblings, next));
    if (found !== undefined) {
      throw invalid('Choose a password that you do not already use for another organization here.');
    }
  }
  const nextHash = await passwords.hash(next, siblings[0]);
  const change = { current: own.hash, next: nextHash };
  const note = auditNote(call, 'password.changed', userId);
  const outcome = await authorize(call.context, note.authority, store.changePassword(change, note));
  if (outcome === 'refused')
    throw invalid('Your password has just been changed. Enter the new one as your current password.');
  return nextHash;
}

/** What a use case needs from a caller who may not be signed in. Calls of console routes have these fields. */
export interface VisitorCall {
  readonly context: Context;
  readonly address: string;
  readonly traceId: string;
  /** Undefined for a browser that has not signed in before. */
  readonly device?: KnownDevice | undefined;
}

/**
 * Runs `prove` unless too many attempts have failed: for this person from this network, from this network, or for this person
 * from anywhere. Then even the right password is rejected; otherwise an attacker could keep guessing. A known device has
 * its own count: when the others are exhausted, it may still try the one password it signed in with before, which is
 * passed to `prove` for `hashesOf`. If `prove` returns `undefined`, the attempt failed. An attempt is counted before it
 * runs, so that concurrent attempts cannot exceed the limit. Without a `person`, only the network counts. `isChoice`: a new
 * password is compared with others of the person, and should not match. A known device may not guess at those.
 */
export async function attempt<T>(
  { context, address, traceId, device }: VisitorCall,
  { person, isChoice = false }: { readonly person?: string; readonly isChoice?: boolean },
  prove: (only?: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { ofNetwork, ofPerson, ofAccount, ofDevice } = context.passwordAttempts;
  const network = toNetwork(address);
  // Hashed to bound memory: an attacker chooses the input.
  const shared = [{ attempts: ofNetwork, key: network }];
  if (person !== undefined) {
    shared.push({ attempts: ofPerson, key: context.sha256(`${person} ${network}`) });
    shared.push({ attempts: ofAccount, key: context.sha256(person) });
  }
  const mayTryOwn = device !== undefined && person !== undefined && !isChoice && waitSeconds(shared) > 0;
  const own = mayTryOwn ? [{ attempts: ofDevice, key: device.id }] : undefined;
  const counted = own ?? shared;
  const retryAfterSeconds = waitSeconds(counted);
  if (retryAfterSeconds > 0) {
    if (person !== undefined) context.failedSignIns.count(person, network, traceId);
    const sentence = `Too many failed attempts. Try again in ${retryAfterSeconds} seconds.`;
    throw rateLimited(sentence, retryAfterSeconds);
  }
  const takeBacks = counted.map(({ attempts, key }) => attempts.count(key));
  let isWrong = false;
  try {
    const proven = await prove(own && device!.password);
    isWrong = proven === undefined;
    return proven;
  } finally {
    if (isWrong && person !== undefined) {
      const { failedSignIns } = context;
      if (isChoice) failedSignIns.countChoice(person, network, traceId);
      else failedSignIns.count(person, network, traceId);
    }
    // A correct password does not count, and neither does an attempt that the store could not answer.
    if (!isWrong) for (const takeBack of takeBacks) takeBack();
  }
}

/** For a request that anyone may repeat: it counts like a failed attempt from this network. */
export function countRequest({ context, address }: VisitorCall): void {
  context.passwordAttempts.ofNetwork.admit(
    toNetwork(address),
    (seconds) => `Too many requests. Try again in ${seconds} seconds.`,
  );
}

function waitSeconds(counted: readonly { attempts: AttemptLimit; key: string }[]): number {
  return Math.max(...counted.map(({ attempts, key }) => attempts.waitSeconds(key)));
}

/** Writes failed sign-ins to the audit logs of the person's organizations, and drops those of unknown addresses. */
export async function noteFailedSignIns(
  context: Pick<Context, 'store' | 'ids' | 'failedSignIns'>,
  all = false,
): Promise<void> {
  const { store, failedSignIns } = context;
  for (const { email, count, networks, traceId, giveBack } of failedSignIns.take(all)) {
    try {
      const person = await store.findPerson(email);
      if (person === undefined) continue;
      const { userId } = person;
      const initiator = { authority: { kind: 'skein' }, traceId } as const;
      const detail = { email, failures: count, networks };
      const note = auditNote({ context, initiator }, 'session.refused', userId, detail);
      const { entered } = await store.listMemberships(userId, { proof: 'sso' });
      for (const { organizationId } of entered) await store.writeAudit(organizationId, note);
    } catch (error) {
      giveBack();
      throw error;
    }
  }
}

export const knownDeviceMs = 365 * dayMs;
const sealedFor = 'device of a password';

/** The value the browser keeps. Only this service can create or read it. */
export function sealDevice(
  { seal, now, sha256, randomBytes }: Context,
  userId: UserId,
  passwordHash: string,
): string {
  const id = sha256(randomBytes(16).join());
  const device: KnownDevice = { id, userId, password: sha256(passwordHash) };
  return sealValue(seal, sealedFor, device, now() + knownDeviceMs);
}

export function openDevice({ seal, now }: Context, sealed: string | undefined): KnownDevice | undefined {
  return openValue<KnownDevice>(seal, sealedFor, sealed, now());
}
