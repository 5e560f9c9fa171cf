import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Json } from '../api/contract.ts';
import { recentOptions, type ThreadFilter, threadsOptions } from '../api/queries.ts';
import { useOrganization } from '../app/session.tsx';

export interface ThreadList {
  readonly threads: readonly Json<'threadRow'>[];
  /** Nothing has been loaded yet. */
  readonly isPending: boolean;
  /** More is being loaded, or is about to be. */
  readonly isSearching: boolean;
  readonly hasMore: boolean;
  readonly isTruncated: boolean;
  readonly error: Error | null;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

/** Loads a listing page by page. If a search returns an empty page although more follow, the next one is loaded at once. */
export function useThreadList(filter: ThreadFilter, limit?: number): ThreadList {
  const organization = useOrganization();
  const query = useInfiniteQuery(threadsOptions(organization.id, filter, limit));
  const recent = useRecentRows(organization.id, query.dataUpdatedAt);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const last = query.data?.pages.at(-1);
  const skipsEmptyPage =
    last !== undefined && last.threads.length === 0 && hasNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (skipsEmptyPage && !isFetchingNextPage) void fetchNextPage();
  }, [skipsEmptyPage, isFetchingNextPage, fetchNextPage]);
  return {
    threads: query.data?.pages.flatMap((page) => page.threads.map(recent)) ?? [],
    isPending: query.isPending,
    isSearching: query.isPending || isFetchingNextPage || skipsEmptyPage,
    hasMore: hasNextPage,
    isTruncated: last?.truncated ?? false,
    error: query.error,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    retry: () => void (isFetchNextPageError ? fetchNextPage() : query.refetch()),
  };
}

/** Uses the rows of the sidebar if it loaded them after the list. */
function useRecentRows(
  organizationId: string,
  listedAt: number,
): (row: Json<'threadRow'>) => Json<'threadRow'> {
  const { data, dataUpdatedAt } = useQuery({ ...recentOptions(organizationId), enabled: false });
  return (row) => {
    const known = dataUpdatedAt > listedAt ? data?.threads.find(({ id }) => id === row.id) : undefined;
    return known === undefined ? row : { ...known, found: row.found };
  };
}
