import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';

const suggestionsMax = 20;

/** Accounts to suggest to who has typed `prefix`: those of threads that the person can see. */
export function listAccounts(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
  prefix: string,
): Promise<string[]> {
  return store.listAccounts(organizationId, userId, prefix, suggestionsMax);
}
