import { hash, verify } from '@node-rs/argon2';
import type { Passwords } from './usecases/context.ts';

/** Argon2id with the first of the settings that OWASP's cheat sheet on storing passwords names. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export function createPasswords(): Passwords {
  let nobodys: Promise<string> | undefined;
  return {
    hash: (password) => hash(spelled(password), cost),
    async verify(known, password) {
      nobodys ??= hash('', cost);
      // Awaited in any case: the time taken does not tell whether there is a hash.
      const stranger = await nobodys;
      const isRight = await verify(known ?? stranger, spelled(password));
      return isRight && known !== null;
    },
  };
}

/** One spelling, however a keyboard composes a letter (NIST SP 800-63B). */
function spelled(password: string): string {
  return password.normalize('NFKC');
}
