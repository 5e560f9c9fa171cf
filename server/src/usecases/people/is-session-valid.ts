import type { Context } from '../context.ts';
import type { EnteredSession } from './read-session.ts';

/**
 * Whether the session may still be in its organization. It does not count as use: a window that was left open keeps no
 * session alive.
 */
export async function isSessionValid(
  { store }: Context,
  { tokenHash, principal }: Pick<EnteredSession, 'tokenHash' | 'principal'>,
): Promise<boolean> {
  const session = await store.findSession(tokenHash, principal.organizationId);
  return session?.membership !== undefined;
}
