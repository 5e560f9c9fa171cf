import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import { titleMatcher } from '../../domain/text.ts';
import type { Thread } from '../../domain/thread.ts';
import type { ThreadPage } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { nextTurn } from '../turns.ts';
import { cursorOf, openThreadWalk, readPage, type ThreadSelection, walkAfter } from './thread-walk.ts';

const suggestionsMax = 20;
/** The most threads that one call scans. SQLite takes 5 ms for 2,000 rows. */
const scannedMax = 2000;
/** Threads per read, each in a turn of its own. */
const pageSize = 250;

interface ListThreadsInput extends ThreadSelection {
  readonly limit: number;
  readonly cursor?: string;
}

export interface FoundThreads {
  readonly threads: readonly Thread[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

/** `nextCursor` is sealed when it is read. */
export interface ListedThreads extends FoundThreads {
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

interface SearchThreadsInput extends ListThreadsInput {
  /** Words that must all occur in the title, ignoring case and accents. */
  readonly search: string;
}

/**
 * A walk over the listing that returns only threads with matching titles. It uses the cursors of the listing, which contain
 * the position but not the search. A page may be empty although more pages follow.
 */
export async function searchThreads(
  context: Context,
  principal: Principal,
  { search, limit, cursor, ...selection }: SearchThreadsInput,
): Promise<FoundThreads> {
  const matches = titleMatcher(search);
  const found: Thread[] = [];
  let walk = openThreadWalk(context, principal, selection, cursor);
  let scanned = 0;
  for (;;) {
    await nextTurn(principal.organizationId);
    const page = await readPage(context, walk, Math.min(pageSize, scannedMax - scanned));
    let taken = 0;
    for (const { thread } of page.rows) {
      taken += 1;
      if (matches(thread.title)) found.push(thread);
      if (found.length === limit) break;
    }
    scanned += taken;
    const { next, truncated } = walkAfter(context, page, taken);
    if (next === undefined || found.length === limit || scanned >= scannedMax) {
      return { threads: found, nextCursor: cursorOf(context, next), truncated };
    }
    walk = next;
  }
}

/** Accounts of threads that the person can see, for suggestions after typing `prefix`. */
export function listAccounts(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
  prefix: string,
): Promise<string[]> {
  return store.listAccounts(organizationId, userId, prefix, suggestionsMax);
}
