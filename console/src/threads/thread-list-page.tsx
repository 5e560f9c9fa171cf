import { useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
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
  const { account, search } = useSearch({ from: scope === 'mine' ? '/door/' : '/door/published' });
  const list = useThreadList({ scope, accountId: account, search });
  const isFiltered = account !== undefined || search !== undefined;
  useAnnouncedCount(isFiltered && !list.isSearching ? list.threads.length : null, list.hasMore);
  const isEmpty = !list.isSearching && list.error === null && list.threads.length === 0;
  return (
    <Page title={scope === 'mine' ? 'My threads' : 'Published threads'}>
      <ScopeTabs />
      <ListFilter scope={scope} account={account ?? ''} search={search ?? ''} />
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

/** Announces the number of results to screen readers. */
function useAnnouncedCount(count: number | null, hasMore: boolean): void {
  useEffect(() => {
    if (count === null) return;
    if (count === 0) announce('No threads found');
    else announce(`${count}${hasMore ? ' or more' : ''} ${count === 1 ? 'thread' : 'threads'} found`);
  }, [count, hasMore]);
}
