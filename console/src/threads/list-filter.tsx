import { NativeSelect } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { ListSearch } from '../api/queries.ts';
import { SearchField } from '../app/search-field.tsx';
import { AccountField } from './account-field.tsx';
import { stateWords } from './state-mark.tsx';
import { focusFirstThread } from './thread-rows.tsx';
import classes from './threads.module.css';

interface ListFilterProps {
  readonly scope: 'mine' | 'published';
  readonly filter: ListSearch;
}

const states = [
  { value: '', label: 'Any state' },
  ...Object.entries(stateWords).map(([value, label]) => ({ value, label })),
];
const times = [
  { value: '', label: 'Any time' },
  { value: 'day', label: 'Past day' },
  { value: 'week', label: 'Past week' },
  { value: 'month', label: 'Past month' },
  { value: 'year', label: 'Past year' },
];

/** The filter is in the URL, so that reloads, the back button and shared links keep it. */
export function ListFilter({ scope, filter }: ListFilterProps) {
  const navigate = useNavigate();
  // An empty value ends that filter.
  const apply = (next: Readonly<Partial<Record<keyof ListSearch, string>>>) =>
    void navigate({
      to: scope === 'mine' ? '/' : '/published',
      search: Object.fromEntries(Object.entries({ ...filter, ...next }).filter(([, value]) => value !== '')),
      replace: true,
      resetScroll: false,
    });
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element `search` is not known to every screen reader yet.
    <div role="search" className={classes.filter}>
      <ThreadSearch search={filter.search ?? ''} onSearch={(text) => apply({ search: text })} />
      <AccountField
        aria-label="Account"
        placeholder="Any account"
        account={filter.account ?? ''}
        onAccount={(id) => apply({ account: id })}
      />
      <NativeSelect
        aria-label="State"
        data={states}
        value={filter.state ?? ''}
        onChange={(event) => apply({ state: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label="Last activity"
        data={times}
        value={filter.within ?? ''}
        onChange={(event) => apply({ within: event.currentTarget.value })}
      />
    </div>
  );
}

function ThreadSearch({ search, onSearch }: { search: string; onSearch: (text: string) => void }) {
  const [text, setText] = useState(search);
  const applied = useRef(search);
  const applySoon = useDebouncedCallback((next: string) => {
    applied.current = next;
    onSearch(next);
  }, 250);
  // The URL has changed: the back button, or a link.
  useEffect(() => {
    if (search !== applied.current) setText(search);
    applied.current = search;
  }, [search]);
  const change = (next: string) => {
    setText(next);
    applySoon(next.trim());
  };
  return (
    <SearchField
      label="Search threads"
      placeholder="Search titles and messages"
      text={text}
      onText={change}
      onKeyDown={(event) => {
        if (event.key === 'Enter') applySoon.flush();
        if (event.key !== 'ArrowDown') return;
        event.preventDefault();
        focusFirstThread();
      }}
    />
  );
}
