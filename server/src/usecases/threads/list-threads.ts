import { foreignCursor, openWalk, sealWalk, type Walk } from '../../domain/cursor.ts';
import { invalid } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Listing, ThreadPage } from '../../storage/store.ts';
import type { Context } from '../context.ts';

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

/** Selects among the threads that the principal may see. */
export interface ThreadSelection {
  /** `mine`: the user's own threads, published or not. `published`: all published ones. Undefined: both. */
  readonly scope?: 'mine' | 'published';
  readonly accountId?: string;
}

/** A listing and the position of a walk over it. */
interface ThreadWalk {
  readonly organizationId: OrganizationId;
  readonly listing: Listing;
  readonly listingName: string;
  /** Undefined before the first page. */
  readonly done: Walk | undefined;
}

/** One page of a walk. `truncated` is the value before this page. */
interface WalkedPage extends ThreadPage, Pick<Walk, 'start' | 'truncated'> {
  readonly walk: ThreadWalk;
  /** The object of the store, which may return it again while nothing has changed. */
  readonly stored: ThreadPage;
}

/** Rejects a cursor that was issued for another principal or selection. */
function openThreadWalk(
  { seal }: Context,
  principal: Principal,
  selection: ThreadSelection,
  cursor: string | undefined,
): ThreadWalk {
  const { organizationId } = principal;
  const listing = listingOf(principal, selection);
  const listingName = nameOf(organizationId, listing, selection);
  const done = cursor === undefined ? undefined : openWalk(seal, listingName, cursor);
  if (cursor !== undefined && done === undefined) throw foreignCursor();
  return { organizationId, listing, listingName, done };
}

function listingOf(principal: Principal, { scope, accountId }: ThreadSelection): Listing {
  const userId = principal.kind === 'user' ? principal.userId : null;
  return {
    userId: scope === 'published' ? null : userId,
    ...(scope === 'mine' && userId !== null && { ownOnly: true }),
    ...(accountId !== undefined && { accountId }),
  };
}

/** Unscoped listings keep the old name so that existing cursors stay valid. */
function nameOf(
  organizationId: OrganizationId,
  { userId }: Listing,
  { scope, accountId }: ThreadSelection,
): string {
  return JSON.stringify([organizationId, userId, accountId ?? null, ...(scope === undefined ? [] : [scope])]);
}

/** The next threads of the walk, at most `limit`, and none past the pagination window. */
async function readPage(context: Context, walk: ThreadWalk, limit: number): Promise<WalkedPage> {
  const { organizationId, listing, done } = walk;
  const { paginationWindow } = context.limits;
  const count = Math.min(limit, Math.max(0, paginationWindow - (done?.walked ?? 0)));
  if (done !== undefined) {
    const page = await context.store.continueWalk(organizationId, listing, count, done);
    if (page === 'expired') {
      throw invalid('cursor: is more than a day old: start again without it.');
    }
    return { ...page, start: done.start, truncated: done.truncated, walk, stored: page };
  }
  const stored = await context.store.beginWalk(organizationId, listing, count);
  const { rows, more, start, size } = stored;
  // Decided once for the whole walk.
  return { rows, more, start, truncated: size > paginationWindow, walk, stored };
}

/** The walk after the first `count` threads of a page; `next` is undefined at the end of the walk. */
function walkAfter(
  { limits }: Context,
  { rows, more, start, truncated: knownBefore, walk }: WalkedPage,
  count: number,
): { readonly next: ThreadWalk | undefined; readonly truncated: boolean } {
  const walked = (walk.done?.walked ?? 0) + count;
  const last = rows[count - 1];
  const atWindow = walked >= limits.paginationWindow;
  // Threads published during the walk use up part of the window: report that they displaced others.
  const truncated = knownBefore || (more && atWindow);
  const goesOn = (more || count < rows.length) && !atWindow;
  if (!goesOn || last === undefined) return { next: undefined, truncated };
  return { next: { ...walk, done: { after: last.position, start, walked, truncated } }, truncated };
}

function cursorOf({ seal }: Context, walk: ThreadWalk | undefined): string | null {
  return walk?.done === undefined ? null : sealWalk(seal, walk.listingName, walk.done);
}
