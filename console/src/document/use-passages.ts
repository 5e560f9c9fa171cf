import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { passagesOptions, passagesPerPage } from '../api/queries.ts';

export type LoadedPassages = ReturnType<typeof usePassages>['loaded'];

/** Loads a document page by page, around the passage `target`. */
export function usePassages(organizationId: string, document: Json<'openedDocument'>, target: number) {
  const [start, setStart] = useState(findPage(target));
  const query = useInfiniteQuery(passagesOptions(organizationId, document, start));
  const pages = query.data?.pages ?? [];
  const first = (query.data?.pageParams[0] as number | undefined) ?? start;
  const passages = pages.flatMap((page) => page.passages);
  // A jump to a part that is not loaded starts over there, instead of loading everything in between.
  const isTargetLoaded = target >= first && target < first + passages.length;
  const hasTarget = target < document.passages;
  if (!isTargetLoaded && hasTarget && query.data !== undefined && start !== findPage(target)) {
    setStart(findPage(target));
  }
  const { fetchNextPage, fetchPreviousPage, refetch } = query;
  const loaded = {
    /** In order, from the position `first`. */
    passages,
    first,
    hasEarlier: query.hasPreviousPage,
    hasLater: query.hasNextPage,
    isLoading: query.isFetching,
    error: query.error,
    loadEarlier: useCallback(() => void fetchPreviousPage({ cancelRefetch: false }), [fetchPreviousPage]),
    loadLater: useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage]),
    retry: useCallback(() => void refetch(), [refetch]),
  };
  return { loaded, isTargetLoaded };
}

function findPage(position: number): number {
  return position - (position % passagesPerPage);
}
