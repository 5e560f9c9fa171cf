import { useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
import { threadPages } from '../app/navigation.ts';
import { Page } from '../app/page.tsx';
import { ListFilter } from './list-filter.tsx';
import { NoThreads } from './no-threads.tsx';
import { ScopeTabs } from './scope-tabs.tsx';
import { ThreadRows } from './thread-rows.tsx';
import { useThreadList } from './use-thread-list.ts';

type Scope = 'mine' | 'published';

export function MinePage() {
  return <ThreadListPage scope="mine" />;
}

export function PublishedPage() {
  return <ThreadListPage scope="published" />;
}

function ThreadListPage({ scope }: { scope: Scope }) {
  const filter = useSearch({ from: scope === 'mine' ? '/signedIn/' : '/signedIn/published' });
  const { account: accountId, search, state, within } = filter;
  const since = useSince(within);
  const list = useThreadList({ scope, accountId, search, state, since });
  const isFiltered = Object.keys(filter).length > 0;
  useAnnouncedCount(isFiltered && !list.isSearching ? list.threads.length : null, list.hasMore);
  const isEmpty = !list.isSearching && list.error === null && list.threads.length === 0;
  return (
    <Page title={threadPages[scope === 'mine' ? 0 : 1].label}>
      <ScopeTabs />
      <ListFilter scope={scope} filter={filter} />
      {isEmpty ? (
        <NoThreads scope={scope} isFiltered={isFiltered} />
      ) : (
        (list.error === null || list.threads.length > 0) && <ThreadRows list={list} scope={scope} />
      )}
      {list.error !== null && (
        <Failure error={list.error} title="Couldn’t load threads" onRetry={list.retry} />
      )}
    </Page>
  );
}

const hourMs = 3_600_000;
const hours = { day: 24, week: 7 * 24, month: 30 * 24, year: 365 * 24 };

/** The start of the period, rounded to the hour. It stays the same while the page is shown, because cursors depend on it. */
function useSince(within: keyof typeof hours | undefined): number | undefined {
  return useMemo(
    () => (within === undefined ? undefined : (Math.floor(Date.now() / hourMs) - hours[within]) * hourMs),
    [within],
  );
}

/** Announces the number of results to screen readers. */
function useAnnouncedCount(count: number | null, hasMore: boolean): void {
  useEffect(() => {
    if (count === null) return;
    if (count === 0) announce('No threads found');
    else announce(`${count}${hasMore ? ' or more' : ''} ${count === 1 ? 'thread' : 'threads'} found`);
  }, [count, hasMore]);
}
