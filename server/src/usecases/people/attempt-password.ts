import type { FailedAttempts } from '../../domain/attempts.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { PasswordId } from '../../domain/id.ts';
import { placeOf } from '../../domain/place.ts';
import type { Context } from '../context.ts';
import type { KnownDevice } from './known-device.ts';

/** Too many attempts failed: the next is heard after `retryAfterSeconds`. */
export class TooManyAttempts extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('RATE_LIMITED', `Too many attempts failed: try again in ${retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Where an attempt comes from. */
export interface Origin {
  readonly address: string;
  /** Undefined for a browser that has not signed in before. */
  readonly device?: KnownDevice | undefined;
}

export interface Attempt extends Origin {
  /** Whose secret is tried; undefined where only the place counts. */
  readonly person: string | undefined;
  readonly traceId: string;
}

/**
 * Runs `prove` unless too many attempts have failed: of this person from this place, of this place at all, or of this
 * person from everywhere. A right password is then refused as well; if it were not, an attacker could simply go on
 * guessing. A known device has failures of its own: when the others are used up, it may still prove the one password it
 * signed in with before, which is passed to `prove`. `undefined` from `prove` is a failure. An attempt is counted before it
 * runs, so that a thousand at once are not all tried.
 */
export async function attempt<T>(
  context: Pick<Context, 'passwordAttempts' | 'failedSignIns' | 'sha256'>,
  { person, address, device, traceId }: Attempt,
  prove: (only?: PasswordId) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { ofPlace, ofPerson, ofAccount, ofDevice } = context.passwordAttempts;
  const place = placeOf(address);
  // Hashed: the memory they take must not depend on what is made up.
  const shared = [
    { attempts: ofPlace, key: place },
    ...(person === undefined
      ? []
      : [
          { attempts: ofPerson, key: context.sha256(`${person} ${place}`) },
          { attempts: ofAccount, key: context.sha256(person) },
        ]),
  ];
  const isClosed = waitSeconds(shared) > 0;
  const own = isClosed && device !== undefined ? [{ attempts: ofDevice, key: device.id }] : undefined;
  const counted = own ?? shared;
  const failed = () => person !== undefined && context.failedSignIns.count(person, place, traceId);
  if (waitSeconds(counted) > 0) {
    failed();
    throw new TooManyAttempts(waitSeconds(counted));
  }
  for (const { attempts, key } of counted) attempts.failed(key);
  const proven = await prove(own && device?.passwordId);
  if (proven === undefined) failed();
  else for (const { attempts, key } of counted) attempts.takeBack(key);
  return proven;
}

function waitSeconds(counted: readonly { attempts: FailedAttempts; key: string }[]): number {
  return Math.max(...counted.map(({ attempts, key }) => attempts.waitSeconds(key)));
}
