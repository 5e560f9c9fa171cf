import { openValue, type Seal, sealValue } from '../../domain/cursor.ts';
import type { UserId } from '../../domain/id.ts';
import type { KnownDevice } from '../../domain/sign-in.ts';
import { dayMs } from '../../domain/time.ts';

export const knownDeviceMs = 365 * dayMs;
const sealedFor = 'device of a password';

interface KnownDeviceNeeds {
  readonly seal: Seal;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly sha256: (text: string) => string;
}

export type KnownDevices = ReturnType<typeof createKnownDevices>;

/** A browser becomes a known device of the password that it has proven or set. */
export function createKnownDevices({ seal, now, randomBytes, sha256 }: KnownDeviceNeeds) {
  return {
    /** The value the browser keeps. Only this service can create or read it. */
    seal(userId: UserId, passwordHash: string): string {
      const id = sha256(randomBytes(16).join());
      const device: KnownDevice = { id, userId, password: sha256(passwordHash) };
      return sealValue(seal, sealedFor, device, now() + knownDeviceMs);
    },
    open(sealed: string | undefined): KnownDevice | undefined {
      return openValue<KnownDevice>(seal, sealedFor, sealed, now());
    },
  };
}
