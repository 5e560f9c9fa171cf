import { openCursor, type Seal, sealCursor, type Walk } from '../../domain/cursor.ts';
import { invalid } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import type { Listing, Store, ThreadPage, ThreadQuery } from '../../storage/port/store.ts';

const suggestionsMax = 20;

/** `nextCursor` is sealed when it is read. */
export interface ListedThreads {
  readonly nextCursor: string | null;
  readonly truncated: boolean;
  /** The object of the store: while nothing has changed, it may be the same again. */
  readonly page: ThreadPage;
  /** How many threads the walk has shown, if another page follows. */
  readonly walked: number | undefined;
}

interface ThreadListNeeds {
  readonly store: Pick<Store, 'beginWalk' | 'continueWalk' | 'listAccounts'>;
  readonly seal: Seal;
  readonly limits: Pick<Limits, 'paginationWindow'>;
}

export type ThreadLists = ReturnType<typeof createThreadLists>;

export function createThreadLists({ store, seal, limits }: ThreadListNeeds) {
  return { list, listAccounts };

  /** One page of the threads that the principal may see, as of the start of the walk and in the order of that time (§4.3). */
  async function list(
    principal: Principal,
    { limit, cursor, ...selection }: ThreadSelection & { readonly limit: number; readonly cursor?: string },
  ): Promise<ListedThreads> {
    const { paginationWindow } = limits;
    const { organizationId } = principal;
    const listing = toListing(principal, selection);
    // A cursor of another principal or selection is also rejected.
    const cursorScope = ['threads', organizationId, listing, selection.scope];
    const done = openCursor<Walk>(seal, cursorScope, cursor);
    const walkedBefore = done?.walked ?? 0;
    // A walk whose listing fitted the window is not cut: threads published since would displace the last ones.
    const left = done?.truncated === false ? limit : Math.max(0, paginationWindow - walkedBefore);
    const count = Math.min(limit, left);
    const { page, start, truncated } = await readPage(organizationId, listing, count, done);
    const { rows, more } = page;
    const walked = walkedBefore + rows.length;
    const isCut = truncated && walked >= paginationWindow;
    const last = rows.at(-1);
    const next = more && !isCut && last ? { after: last.position, start, walked, truncated } : undefined;
    return {
      get nextCursor() {
        return next === undefined ? null : sealCursor(seal, cursorScope, next);
      },
      truncated,
      page,
      walked: next?.walked,
    };
  }

  function listAccounts({ organizationId, userId }: UserPrincipal, prefix: string): Promise<string[]> {
    return store.listAccounts(organizationId, userId, prefix, suggestionsMax);
  }

  /** `truncated` is decided once for the whole walk. */
  async function readPage(
    organizationId: OrganizationId,
    listing: Listing,
    count: number,
    done: Walk | undefined,
  ): Promise<{ page: ThreadPage; start: string; truncated: boolean }> {
    if (done === undefined) {
      const page = await store.beginWalk(organizationId, listing, count);
      return { page, start: page.start, truncated: page.size > limits.paginationWindow };
    }
    const page = await store.continueWalk(organizationId, listing, count, done);
    if (page === 'expired') throw invalid('Cursor expired. Restart the list without `cursor`.');
    return { page, start: done.start, truncated: done.truncated };
  }
}

export type ThreadSelection = Pick<ThreadQuery, 'scope' | 'accountId'>;

function toListing({ userId }: Principal, { scope, accountId }: ThreadSelection): Listing {
  return {
    userId: scope === 'published' ? null : userId,
    ...(scope === 'mine' && userId !== null && { ownOnly: true }),
    ...(accountId !== undefined && { accountId }),
  };
}
