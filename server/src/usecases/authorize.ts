import type { AnyAuthority, KeyAuthority, SessionAuthority } from '../domain/authority.ts';
import { forbidden } from '../domain/errors.ts';
import type { Unauthorized } from '../storage/port/store.ts';

/** The result of a write, or the error that a new request of the same caller would get: its authority has ended. */
export type Authorize = <T>(authority: AnyAuthority, write: Promise<T | Unauthorized>) => Promise<T>;

interface AuthorityChecks {
  /** Rejects as a new request with the key would. */
  readonly recheckKey: (authority: KeyAuthority) => Promise<void>;
  /** Rejects as a new request of the session would, unless it may do this again. */
  readonly recheckSession: (authority: SessionAuthority) => Promise<void>;
}

export function createAuthorize({ recheckKey, recheckSession }: AuthorityChecks): Authorize {
  return async <T>(authority: AnyAuthority, write: Promise<T | Unauthorized>) => {
    const result = await write;
    if (result !== 'unauthorized') return result as T;
    if (authority.kind === 'key') await recheckKey(authority);
    if (authority.kind === 'session') await recheckSession(authority);
    // It was given back in the meantime.
    throw forbidden('Your access changed while the request was being processed. Try again.');
  };
}
