import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { cursorOf, openThreadWalk, readPage, type ThreadSelection, walkAfter } from './thread-walk.ts';

const suggestionsMax = 20;

export interface ListThreadsInput extends ThreadSelection {
  readonly limit: number;
  readonly cursor?: string;
}

export interface ListedThreads {
  readonly threads: readonly Thread[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

/** One page of the threads that the principal may see, as of the start of the walk and in the order of that time (§4.3). */
export async function listThreads(
  context: Context,
  principal: Principal,
  { limit, cursor, ...selection }: ListThreadsInput,
): Promise<ListedThreads> {
  const walk = openThreadWalk(context, principal, selection, cursor);
  const page = await readPage(context, walk, limit);
  const { next, truncated } = walkAfter(context, page, page.rows.length);
  return { threads: page.rows.map(({ thread }) => thread), nextCursor: cursorOf(context, next), truncated };
}

/** Accounts of threads that the person can see, for suggestions after typing `prefix`. */
export function listAccounts(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
  prefix: string,
): Promise<string[]> {
  return store.listAccounts(organizationId, userId, prefix, suggestionsMax);
}
