import { openWalk, sealWalk, type Walk } from '../../domain/cursor.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Listing, ThreadPage } from '../../storage/store.ts';
import type { Context } from '../context.ts';

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
export function openThreadWalk(
  { seal }: Context,
  principal: Principal,
  selection: ThreadSelection,
  cursor: string | undefined,
): ThreadWalk {
  const { organizationId } = principal;
  const listing = listingOf(principal, selection);
  const listingName = nameOf(organizationId, listing, selection);
  const done = cursor === undefined ? undefined : openWalk(seal, listingName, cursor);
  if (cursor !== undefined && done === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'cursor: was not returned by this listing.');
  }
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
export async function readPage(context: Context, walk: ThreadWalk, limit: number): Promise<WalkedPage> {
  const { organizationId, listing, done } = walk;
  const { paginationWindow } = context.limits;
  const count = Math.min(limit, Math.max(0, paginationWindow - (done?.walked ?? 0)));
  if (done !== undefined) {
    const page = await context.store.continueWalk(organizationId, listing, count, done);
    if (page === 'expired') {
      throw new ServiceError('INVALID_PARAMS', 'cursor: is more than a day old: start again without it.');
    }
    return { ...page, start: done.start, truncated: done.truncated, walk, stored: page };
  }
  const stored = await context.store.beginWalk(organizationId, listing, count);
  const { rows, more, start, size } = stored;
  // Decided once for the whole walk.
  return { rows, more, start, truncated: size > paginationWindow, walk, stored };
}

/** The walk after the first `count` threads of a page; `next` is undefined at the end of the walk. */
export function walkAfter(
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

export function cursorOf({ seal }: Context, walk: ThreadWalk | undefined): string | null {
  return walk?.done === undefined ? null : sealWalk(seal, walk.listingName, walk.done);
}
