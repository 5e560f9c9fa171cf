import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { ThreadPage } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { cursorOf, openThreadWalk, readPage, type ThreadSelection, walkAfter } from './thread-walk.ts';

const suggestionsMax = 20;

interface ListThreadsInput extends ThreadSelection {
  readonly limit: number;
  readonly cursor?: string;
}

/** `nextCursor` is sealed when it is read. */
export interface ListedThreads {
  readonly threads: readonly Thread[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
  /** The object of the store: while nothing has changed, it may be the same again. */
  readonly page: ThreadPage;
  /** How many threads the walk has shown, if another page follows. */
  readonly walked: number | undefined;
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
  return {
    threads: page.rows.map(({ thread }) => thread),
    get nextCursor() {
      return cursorOf(context, next);
    },
    truncated,
    page: page.stored,
    walked: next?.done?.walked,
  };
}

/** Accounts of threads that the person can see, for suggestions after typing `prefix`. */
export function listAccounts(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
  prefix: string,
): Promise<string[]> {
  return store.listAccounts(organizationId, userId, prefix, suggestionsMax);
}
