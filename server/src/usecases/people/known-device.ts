import type { PasswordId } from '../../domain/id.ts';
import type { Context } from '../context.ts';

/** A browser that has signed in with this password before. Failures elsewhere do not lock it out. */
export interface KnownDevice {
  /** Counts its own failures. */
  readonly id: string;
  readonly passwordId: PasswordId;
}

interface Sealed extends KnownDevice {
  readonly until: number;
}

export const knownDeviceMs = 365 * 24 * 60 * 60 * 1000;
const sealedFor = 'known device';

/** The value the browser keeps. It names no person, and only this service can create or read it. */
export function sealDevice({ seal, now, sha256, randomBytes }: Context, passwordId: PasswordId): string {
  const id = sha256(randomBytes(16).join());
  const sealed: Sealed = { id, passwordId, until: now() + knownDeviceMs };
  return seal.seal(sealedFor, JSON.stringify(sealed));
}

export function openDevice({ seal, now }: Context, sealed: string | undefined): KnownDevice | undefined {
  const text = sealed === undefined ? undefined : seal.open(sealedFor, sealed);
  if (text === undefined) return undefined;
  const { until, ...device } = JSON.parse(text) as Sealed;
  return until > now() ? device : undefined;
}
