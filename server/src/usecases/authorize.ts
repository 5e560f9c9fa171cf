import type { AnyAuthority } from '../domain/authority.ts';
import { forbidden } from '../domain/errors.ts';
import type { Unauthorized } from '../storage/port/store.ts';
import type { Context } from './context.ts';
import { refuseKey } from './credentials/authenticate.ts';
import { assertRole, enterOrganization, readSession } from './people/sessions.ts';

/** The result of a write, or the error that a new request of the same caller would get: its authority has ended. */
export async function authorize<T>(
  context: Context,
  authority: AnyAuthority,
  write: Promise<T | Unauthorized>,
): Promise<T> {
  const result = await write;
  if (result !== 'unauthorized') return result as T;
  if (authority.kind === 'key') return refuseKey(context, authority);
  if (authority.kind === 'session') {
    const { sessionHash, organizationId, role } = authority;
    if (organizationId === null) await readSession(context, sessionHash, false);
    else assertRole(await enterOrganization(context, sessionHash, organizationId, false), role);
  }
  // It was given back in the meantime.
  throw forbidden('Your access changed while the request was being processed. Try again.');
}
