import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { LoggedRequest, RequestFilter, RequestPosition } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { type NamedCredential, nameCredentials } from './read-usage.ts';

export interface RequestSearch extends RequestFilter {
  readonly traceId?: string | undefined;
  /** In milliseconds, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

interface RequestPage {
  readonly requests: readonly (LoggedRequest & { readonly credential: NamedCredential })[];
  readonly nextCursor: string | null;
  /** How far the search went back; null if it reached the end. */
  readonly searchedTo: number | null;
}

/**
 * The organization's API requests, newest first. Those of the last second may be missing. A page may have fewer entries
 * than asked for, or none, and still have a next one: a filter searches a bounded part of the log at a time.
 */
export async function listRequests(
  context: Context,
  organizationId: OrganizationId,
  search: RequestSearch,
): Promise<RequestPage> {
  const { requests, searched } = await findRequests(context, organizationId, search);
  const nameOf = await nameCredentials(context, organizationId);
  return {
    requests: requests.map((request) => ({ ...request, credential: nameOf(request.credentialId) })),
    nextCursor: searched && context.seal.seal(nameOfListing(organizationId, search), positionText(searched)),
    searchedTo: searched?.at ?? null,
  };
}

async function findRequests(
  { store, seal }: Context,
  organizationId: OrganizationId,
  search: RequestSearch,
): ReturnType<Context['store']['listRequests']> {
  const { traceId, from = 0, to = Number.MAX_SAFE_INTEGER, cursor, limit, ...filter } = search;
  if (traceId !== undefined) {
    const found = await store.findRequest(organizationId, traceId);
    return { requests: found ? [found] : [], searched: null };
  }
  const listing = nameOfListing(organizationId, search);
  const before =
    cursor === undefined ? { at: to + 1, traceId: '' } : readPosition(seal.open(listing, cursor));
  if (before === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'cursor: was not returned by this listing.');
  }
  return store.listRequests(organizationId, { ...filter, before, since: from, limit });
}

function nameOfListing(organizationId: OrganizationId, search: RequestSearch): string {
  const { operation, credentialId, statusClass, from, to } = search;
  return JSON.stringify(['requests', organizationId, operation, credentialId, statusClass, from, to]);
}

function positionText({ at, traceId }: RequestPosition): string {
  return `${at}|${traceId}`;
}

function readPosition(text: string | undefined): RequestPosition | undefined {
  const [at, traceId] = text?.split('|') ?? [];
  return at === undefined || traceId === undefined ? undefined : { at: Number(at), traceId };
}
