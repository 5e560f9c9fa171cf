import { ServiceError } from '../domain/errors.ts';
import { placeOf } from '../domain/place.ts';
import type { Context } from './context.ts';

/** Too many attempts failed: the next is heard after `retryAfterSeconds`. */
export class TooManyAttempts extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('RATE_LIMITED', `Too many attempts failed: try again in ${retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Attempt {
  /** Whose secret is tried; undefined where only the place counts. */
  readonly person: string | undefined;
  /** Where from. */
  readonly address: string;
}

/**
 * Runs `prove` unless too many attempts of this person from this place, or from this place at all, have failed within the
 * minute. A right password is then not heard either: were it, an attacker could simply go on guessing. Nobody is locked
 * out from elsewhere. What `prove` answers `undefined` to has failed. It is counted before it runs, so that a thousand at
 * once are not heard at once.
 */
export async function attempt<T>(
  context: Pick<Context, 'passwordAttempts' | 'sha256'>,
  { person, address }: Attempt,
  prove: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { ofPerson, ofPlace } = context.passwordAttempts;
  const place = placeOf(address);
  // Hashed: the memory they take must not depend on what is made up.
  const counted = [
    { attempts: ofPlace, key: place },
    ...(person === undefined ? [] : [{ attempts: ofPerson, key: context.sha256(`${person} ${place}`) }]),
  ];
  const waitSeconds = Math.max(...counted.map(({ attempts, key }) => attempts.waitSeconds(key)));
  if (waitSeconds > 0) throw new TooManyAttempts(waitSeconds);
  for (const { attempts, key } of counted) attempts.failed(key);
  const proven = await prove();
  if (proven !== undefined) for (const { attempts, key } of counted) attempts.takeBack(key);
  return proven;
}
