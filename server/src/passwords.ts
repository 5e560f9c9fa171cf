import { hash, verify } from '@node-rs/argon2';
import type { Passwords } from './usecases/context.ts';

/** Argon2id with the first of the settings that OWASP's cheat sheet on storing passwords names. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Of the four threads that Node has for such work: however many sign in, files are still read and names looked up. */
const atOnceMax = 2;

export function createPasswords(): Passwords {
  const inTurn = takingTurns(atOnceMax);
  let nobodys: Promise<string> | undefined;
  return {
    hash: (password) => inTurn(() => hash(spelled(password), cost)),
    async verify(known, password) {
      nobodys ??= hash('', cost);
      // Awaited in any case: the time taken does not tell whether there is a hash.
      const stranger = await nobodys;
      const isRight = await inTurn(() => verify(known ?? stranger, spelled(password)));
      return isRight && known !== null;
    },
  };
}

/** One spelling, however a keyboard composes a letter (NIST SP 800-63B). */
function spelled(password: string): string {
  return password.normalize('NFKC');
}

/** Runs so many at once; the others wait, in order. */
function takingTurns(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place is handed on, or given up where nobody waits.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
