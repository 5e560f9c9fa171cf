import { CloseButton, Kbd, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { searchFieldId, useSingleKeys } from '../app/shortcuts.ts';
import { AccountField } from './account-field.tsx';
import { focusFirstThread } from './thread-rows.tsx';
import classes from './threads.module.css';

interface ListFilterProps {
  readonly scope: 'mine' | 'published';
  readonly account: string;
  readonly search: string;
}

/** The filter is in the URL, so that reloads, the back button and shared links keep it. */
export function ListFilter({ scope, account, search }: ListFilterProps) {
  const navigate = useNavigate();
  const apply = (next: { account?: string; search?: string }) =>
    void navigate({
      to: scope === 'mine' ? '/' : '/published',
      search: ({ account: _account, search: _search, ...kept }: Record<string, unknown>) => ({
        ...kept,
        ...nonEmpty({ account, search, ...next }),
      }),
      replace: true,
      resetScroll: false,
    });
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element `search` is not known to every screen reader yet.
    <div role="search" className={classes.filter}>
      <SearchField search={search} onSearch={(text) => apply({ search: text })} />
      <AccountField
        aria-label="Account"
        placeholder="Any account"
        account={account}
        onAccount={(id) => apply({ account: id })}
      />
    </div>
  );
}

function nonEmpty(search: { account: string; search: string }): { account?: string; search?: string } {
  return {
    ...(search.account !== '' && { account: search.account }),
    ...(search.search !== '' && { search: search.search }),
  };
}

function SearchField({ search, onSearch }: { search: string; onSearch: (text: string) => void }) {
  const [text, setText] = useState(search);
  const [singleKeys] = useSingleKeys();
  const applied = useRef(search);
  const applySoon = useDebouncedCallback((next: string) => {
    applied.current = next;
    onSearch(next);
  }, 250);
  // The address changed by itself: the way back, or a link.
  useEffect(() => {
    if (search !== applied.current) setText(search);
    applied.current = search;
  }, [search]);
  const change = (next: string) => {
    setText(next);
    applySoon(next.trim());
  };
  return (
    <TextInput
      id={searchFieldId}
      type="text"
      role="searchbox"
      aria-label="Search titles"
      placeholder="Search titles"
      leftSection={<IconSearch size={18} aria-hidden />}
      rightSection={
        text !== '' ? (
          <CloseButton size="sm" aria-label="Clear search" onClick={() => change('')} />
        ) : (
          singleKeys && (
            <Kbd size="xs" visibleFrom="sm" aria-hidden>
              /
            </Kbd>
          )
        )
      }
      autoComplete="off"
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          if (text === '') event.currentTarget.blur();
          else change('');
        } else if (event.key === 'ArrowDown') {
          event.preventDefault();
          focusFirstThread();
        } else if (event.key === 'Enter') applySoon.flush();
      }}
    />
  );
}
