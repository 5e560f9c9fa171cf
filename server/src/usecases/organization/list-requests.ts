import { openPosition, sealPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { RequestFilter } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { nameCredentials } from './read-usage.ts';

export interface RequestSearch extends RequestFilter {
  readonly traceId?: string | undefined;
  /** In milliseconds, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/**
 * The organization's API requests, newest first. Those of the last second may be missing. A page may have fewer entries
 * than asked for, or none, and still have a next one: a filter searches a bounded part of the log at a time.
 */
export async function listRequests(context: Context, organizationId: OrganizationId, search: RequestSearch) {
  const { seal } = context;
  const { from = 0, to = Number.MAX_SAFE_INTEGER - 1, cursor, limit, traceId, ...filter } = search;
  const listing = JSON.stringify(['requests', organizationId, filter, from, to]);
  const before = cursor === undefined ? { at: to + 1, id: '' } : openPosition(seal, listing, cursor);
  // One extra entry shows whether there is another page.
  const query = { ...filter, before, since: from, limit: limit + 1 };
  const { requests, searched } =
    traceId === undefined
      ? await context.store.listRequests(organizationId, query)
      : await findOne(context, organizationId, traceId);
  const lastShown = requests.length > limit ? requests[limit - 1] : undefined;
  const last = lastShown ? { at: lastShown.at, id: lastShown.traceId } : searched;
  const shown = requests.slice(0, limit);
  const nameOf = await nameCredentials(context, organizationId, shown);
  return {
    requests: shown.map((request) => ({ ...request, credential: nameOf(request.credentialId) })),
    nextCursor: last && sealPosition(seal, listing, last),
    /** How far the search went back; null if it reached the end. */
    searchedTo: last?.at ?? null,
  };
}

async function findOne(
  { store }: Context,
  organizationId: OrganizationId,
  traceId: string,
): ReturnType<Context['store']['listRequests']> {
  const found = await store.findRequest(organizationId, traceId);
  return { requests: found ? [found] : [], searched: null };
}
