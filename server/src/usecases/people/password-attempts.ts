import { toNetwork } from '../../domain/address.ts';
import type { AttemptLimit, FailedSignIns } from '../../domain/attempts.ts';
import { rateLimited } from '../../domain/errors.ts';
import type { IdGenerator } from '../../domain/id.ts';
import type { KnownDevice } from '../../domain/sign-in.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote } from '../audit-note.ts';

/** A caller who may not be signed in. Calls of console routes have these fields. */
export interface Visitor {
  readonly address: string;
  readonly traceId: string;
  /** Undefined for a browser that has not signed in before. */
  readonly device?: KnownDevice | undefined;
}

/** Passwords can be guessed, unlike other secrets here, so attempts are limited in several ways. */
interface PasswordLimits {
  readonly ofPerson: AttemptLimit;
  readonly ofNetwork: AttemptLimit;
  /** By person, from all networks together. */
  readonly ofAccount: AttemptLimit;
  /** By known device, which may still try when the other limits are exhausted. */
  readonly ofDevice: AttemptLimit;
}

interface PasswordAttemptNeeds {
  readonly limits: PasswordLimits;
  readonly failedSignIns: FailedSignIns;
  readonly sha256: (text: string) => string;
}

export type PasswordAttempts = ReturnType<typeof createPasswordAttempts>;

export function createPasswordAttempts({ limits, failedSignIns, sha256 }: PasswordAttemptNeeds) {
  return { attempt, countRequest };

  /**
   * Runs `prove` unless too many attempts have failed: for this person from this network, from this network, or for this person
   * from anywhere. Then even the right password is rejected; otherwise an attacker could keep guessing. A known device has
   * its own count: when the others are exhausted, it may still try the one password it signed in with before, which is
   * passed to `prove` for `listHashes`. If `prove` returns `undefined`, the attempt failed. An attempt is counted before it
   * runs, so that concurrent attempts cannot exceed the limit. Without a `person`, only the network counts. `isChoice`: a new
   * password is compared with others of the person, and should not match. A known device may not guess at those.
   */
  async function attempt<T>(
    { address, traceId, device }: Visitor,
    { person, isChoice = false }: { readonly person?: string; readonly isChoice?: boolean },
    prove: (only?: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { ofNetwork, ofPerson, ofAccount, ofDevice } = limits;
    const network = toNetwork(address);
    // Hashed to bound memory: an attacker chooses the input.
    const shared = [{ attempts: ofNetwork, key: network }];
    if (person !== undefined) {
      shared.push({ attempts: ofPerson, key: sha256(`${person} ${network}`) });
      shared.push({ attempts: ofAccount, key: sha256(person) });
    }
    const mayTryOwn = device !== undefined && person !== undefined && !isChoice && waitSeconds(shared) > 0;
    const own = mayTryOwn ? [{ attempts: ofDevice, key: device.id }] : undefined;
    const counted = own ?? shared;
    const retryAfterSeconds = waitSeconds(counted);
    if (retryAfterSeconds > 0) {
      if (person !== undefined) failedSignIns.count(person, network, traceId);
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
        if (isChoice) failedSignIns.countChoice(person, network, traceId);
        else failedSignIns.count(person, network, traceId);
      }
      // A correct password does not count, and neither does an attempt that the store could not answer.
      if (!isWrong) for (const takeBack of takeBacks) takeBack();
    }
  }

  /** For a request that anyone may repeat: it counts like a failed attempt from this network. */
  function countRequest({ address }: Pick<Visitor, 'address'>): void {
    limits.ofNetwork.admit(
      toNetwork(address),
      (seconds) => `Too many requests. Try again in ${seconds} seconds.`,
    );
  }
}

function waitSeconds(counted: readonly { attempts: AttemptLimit; key: string }[]): number {
  return Math.max(...counted.map(({ attempts, key }) => attempts.waitSeconds(key)));
}

interface FailedSignInNeeds {
  readonly store: Pick<Store, 'findPerson' | 'listMemberships' | 'writeAudit'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly failedSignIns: FailedSignIns;
}

export function createFailedSignInNotes({ store, ids, failedSignIns }: FailedSignInNeeds) {
  /** Writes failed sign-ins to the audit logs of the person's organizations, and drops those of unknown addresses. */
  return async function noteFailedSignIns(all = false): Promise<void> {
    for (const { email, count, networks, traceId, giveBack } of failedSignIns.take(all)) {
      try {
        const person = await store.findPerson(email);
        if (person === undefined) continue;
        const { userId } = person;
        const initiator = { authority: { kind: 'skein' }, traceId } as const;
        const detail = { email, failures: count, networks };
        const note = auditNote(ids, initiator, 'session.refused', userId, detail);
        const { entered } = await store.listMemberships(userId, { proof: 'sso' });
        for (const { organizationId } of entered) await store.writeAudit(organizationId, note);
      } catch (error) {
        giveBack();
        throw error;
      }
    }
  };
}
