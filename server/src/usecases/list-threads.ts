import { openWalk, sealWalk } from '../domain/cursor.ts';
import { ServiceError } from '../domain/errors.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Principal } from '../domain/principal.ts';
import type { Thread } from '../domain/thread.ts';
import type { Listing } from '../storage/store.ts';
import type { Context } from './context.ts';

export interface ListThreadsInput {
  readonly limit: number;
  readonly cursor?: string;
  readonly accountId?: string;
}

export interface ListedThreads {
  readonly threads: readonly Thread[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

/** One page of a walk over what the principal may see, as of the walk's start and in the order of that moment (§4.3). */
export async function listThreads(
  context: Context,
  principal: Principal,
  { limit, cursor, accountId }: ListThreadsInput,
): Promise<ListedThreads> {
  const { store, cursorSeal, settings } = context;
  const { organizationId } = principal;
  const listing: Listing = {
    userId: principal.kind === 'user' ? principal.userId : null,
    ...(accountId !== undefined && { accountId }),
  };
  const listingName = JSON.stringify([organizationId, listing.userId, accountId ?? null]);
  const walk = cursor === undefined ? undefined : openWalk(cursorSeal, listingName, cursor);
  if (cursor !== undefined && walk === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'cursor: is not one that this listing returned.');
  }

  const walkedBefore = walk?.walked ?? 0;
  const count = Math.min(limit, Math.max(0, settings.paginationWindow - walkedBefore));
  const { rows, more, start, ...settled } = walk
    ? { ...walk, ...(await store.continueWalk(organizationId, listing, count, walk)) }
    : await beginWalk(context, organizationId, listing, count);

  const walked = walkedBefore + rows.length;
  const last = rows.at(-1);
  const atWindow = walked >= settings.paginationWindow;
  const goesOn = more && last !== undefined && !atWindow;
  // Threads published during the walk take a part of the window: what they displace is not passed over in silence.
  const truncated = settled.truncated || (more && atWindow);
  return {
    threads: rows.map(({ thread }) => thread),
    nextCursor: goesOn
      ? sealWalk(cursorSeal, listingName, { after: last.position, start, walked, truncated })
      : null,
    truncated,
  };
}

/** Whether the listing exceeds the window is settled here, once for the whole walk. */
async function beginWalk(
  { store, settings }: Context,
  organizationId: OrganizationId,
  listing: Listing,
  count: number,
) {
  const page = await store.beginWalk(organizationId, listing, count);
  return { ...page, truncated: page.size > settings.paginationWindow };
}
