import { Button, Group } from '@mantine/core';
import { useEffect } from 'react';
import { Failure } from '../app/failure.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';

/** The part of an infinite query that a listing needs. */
interface Pages {
  readonly data: { readonly pages: readonly unknown[] } | undefined;
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly refetch: () => unknown;
  readonly fetchNextPage: () => unknown;
}

/** A filter reads a log page by page. Up to this many pages without a match are skipped before the person is asked. */
const emptyPagesMax = 5;

interface LogTableProps<Row extends { readonly id: string }> extends DataTableProps<Row> {
  readonly query: Pages;
}

/** A table that loads more rows on request. */
export function LogTable<Row extends { readonly id: string }>({ rows, query, ...table }: LogTableProps<Row>) {
  const { data, error, hasNextPage, isFetching, isFetchNextPageError, refetch, fetchNextPage } = query;
  const hasFewPages = data !== undefined && data.pages.length < emptyPagesMax;
  const searchesOn = rows?.length === 0 && hasNextPage && hasFewPages && !isFetchNextPageError;
  useEffect(() => {
    if (searchesOn && !isFetching) fetchNextPage();
  }, [searchesOn, isFetching, fetchNextPage]);
  return (
    <>
      <DataTable
        {...table}
        query={{ error: isFetchNextPageError ? null : error, refetch }}
        rows={searchesOn ? undefined : rows}
      />
      {isFetchNextPageError && (
        <Failure error={error} title={table.failure} onRetry={() => fetchNextPage()} />
      )}
      {!searchesOn && !isFetchNextPageError && (
        <LoadMore query={query} label={rows?.length === 0 ? 'Search further back' : undefined} />
      )}
    </>
  );
}

export function LoadMore({ query, label = 'Load more' }: { query: Pages; label?: string | undefined }) {
  if (!query.hasNextPage) return null;
  return (
    <Group justify="center" mt="md">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        {label}
      </Button>
    </Group>
  );
}
