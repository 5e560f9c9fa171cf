import { timingSafeEqual } from 'node:crypto';
import type { Options } from '@node-rs/argon2';
import { FairQueue } from '../../../runtime/src/pure/fair-queue.ts';
import { toNetwork } from '../domain/address.ts';
import type { Passwords } from '../usecases/people/passwords.ts';

/** Argon2id with the first setting that OWASP's password storage cheat sheet recommends. */
const algorithm = 2;
const cost = { algorithm, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Compared for a person without a password, so that the timing does not reveal it. No password has an empty digest. */
const unknownPersonHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$dW5rbm93biBwZXJzb24ncw$`;
/** Leaves some of Node's four pool threads free for files and DNS, however many people sign in. */
const atOnceMax = 2;

/**
 * Networks take turns: somebody who signs in a hundred times at once delays only their own network. (If people took turns,
 * the time would reveal who exists.)
 */
export function createPasswords(): (address: string) => Passwords {
  const queue = new FairQueue<string>(atOnceMax);
  return (address) => queuePasswords(queue, toNetwork(address));
}

function queuePasswords(queue: FairQueue<string>, network: string): Passwords {
  const hash = (password: string, options: Options) =>
    queue.run(network, async () => {
      // Loaded with the first password, because most processes never hash one.
      const argon2 = await import('@node-rs/argon2');
      // Keyboards enter composed characters differently (NIST SP 800-63B).
      return argon2.hash(password.normalize('NFKC'), options);
    });

  /** The hash of the password with the parameters and the salt of `existingHash`. */
  const hashLike = (existingHash: string, password: string) => {
    const [, , , parameters, salt] = existingHash.split('$');
    const [, m, t, p] = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(parameters ?? '') ?? [];
    if (!existingHash.startsWith('$argon2id$v=19$') || !salt || !p)
      throw new Error('not a hash of a password');
    const [memoryCost, timeCost, parallelism] = [Number(m), Number(t), Number(p)];
    const options = { algorithm, memoryCost, timeCost, parallelism, salt: Buffer.from(salt, 'base64') };
    return hash(password, options);
  };

  return {
    hash: (password, sibling) => (sibling === undefined ? hash(password, cost) : hashLike(sibling, password)),
    async find(known, password) {
      // By parameters and salt: the part before the digest.
      const salted = Map.groupBy(known.length === 0 ? [unknownPersonHash] : known, (one) =>
        one.slice(0, one.lastIndexOf('$')),
      );
      for (const hashes of salted.values()) {
        const computed = Buffer.from(await hashLike(hashes[0]!, password));
        const found = hashes.find((one) => isEqual(Buffer.from(one), computed));
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
