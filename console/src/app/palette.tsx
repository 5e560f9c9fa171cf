import { createSpotlight, Spotlight } from '@mantine/spotlight';
import '@mantine/spotlight/styles.layer.css';
import { Modal, useComputedColorScheme, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  IconKeyboard,
  IconMessage,
  IconMoon,
  IconPlus,
  IconSearch,
  IconUserCircle,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { shownTitle } from '../threads/shown-title.ts';
import { useThreadList } from '../threads/use-thread-list.ts';
import { settingsPagesFor, threadPages } from './navigation.ts';
import { closeOverlay, openOverlay } from './overlay.ts';
import { useOrganization } from './session.tsx';

const [store, spotlight] = createSpotlight();
const listId = 'palette-list';

interface PaletteItem {
  readonly label: string;
  readonly description?: string;
  readonly icon: ReactNode;
  readonly act: () => void;
}

/** Ctrl-K: finds pages, actions and threads. */
export default function Palette({ opened }: { opened: boolean }) {
  const [text, setText] = useState('');
  useEffect(() => (opened ? spotlight.open() : spotlight.close()), [opened]);
  return (
    <Spotlight.Root
      store={store}
      query={text}
      onQueryChange={setText}
      shortcut={null}
      scrollable
      maxHeight="min(28rem, 70dvh)"
      onSpotlightClose={closeOverlay}
    >
      <VisuallyHidden>
        <Modal.Title>Find</Modal.Title>
      </VisuallyHidden>
      <Spotlight.Search
        aria-label="Find pages and threads"
        placeholder="Find pages and threads"
        leftSection={<IconSearch size={20} aria-hidden />}
      />
      <Spotlight.ActionsList id={listId}>
        <PaletteItems text={text} />
        {opened && <Threads text={text} />}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function PaletteItems({ text }: { text: string }) {
  const wanted = text.trim().toLowerCase();
  const found = usePaletteItems().filter(({ label }) => label.toLowerCase().includes(wanted));
  if (found.length === 0) return null;
  return (
    <Spotlight.ActionsGroup label="Go to">
      {found.map(({ label, description, icon, act }) => (
        <Spotlight.Action
          key={label}
          label={label}
          {...(description !== undefined && { description })}
          leftSection={icon}
          onClick={act}
        />
      ))}
    </Spotlight.ActionsGroup>
  );
}

function usePaletteItems(): PaletteItem[] {
  const navigate = useNavigate();
  const { role } = useOrganization();
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme() !== 'dark';
  const pages = [...threadPages, ...settingsPagesFor(role)].map((page) => ({
    label: page.label,
    icon: <page.Icon size={20} stroke={1.75} aria-hidden />,
    act: () => void navigate({ to: page.to }),
  }));
  return [
    {
      label: 'New thread',
      icon: <IconPlus size={20} aria-hidden />,
      act: () => void navigate({ to: '/new' }),
    },
    ...pages,
    {
      label: 'Your account',
      icon: <IconUserCircle size={20} aria-hidden />,
      act: () => void navigate({ to: '/settings/account' }),
    },
    {
      label: dark ? 'Switch to dark theme' : 'Switch to light theme',
      icon: <IconMoon size={20} aria-hidden />,
      act: () => setColorScheme(dark ? 'dark' : 'light'),
    },
    {
      label: 'Keyboard shortcuts',
      icon: <IconKeyboard size={20} aria-hidden />,
      act: () => openOverlay('keyboard'),
    },
  ];
}

function Threads({ text }: { text: string }) {
  const navigate = useNavigate();
  const [search] = useDebouncedValue(text.trim(), 200);
  const { threads, isSearching } = useThreadList({ search }, 10);
  useFirstSelected(threads.length);
  if (threads.length === 0)
    return <Spotlight.Empty>{isSearching ? 'Searching…' : 'No matching threads.'}</Spotlight.Empty>;
  return (
    <Spotlight.ActionsGroup label={search === '' ? 'Recent threads' : 'Threads'}>
      {threads.map((thread) => (
        <Spotlight.Action
          key={thread.id}
          label={shownTitle(thread.title)}
          {...describe(thread)}
          leftSection={<IconMessage size={20} stroke={1.75} aria-hidden />}
          onClick={() => void navigate({ to: '/threads/$threadId', params: { threadId: thread.id } })}
        />
      ))}
    </Spotlight.ActionsGroup>
  );
}

/** The part of a message that was found, else the account. */
function describe({ found, accountId }: Json<'threadRow'>): { description?: string } {
  if (found?.text) return { description: found.text.map(({ text }) => text).join('') };
  return accountId === null ? {} : { description: `Account ${accountId}` };
}

/** Also selects the first result that arrives after the last keystroke if nothing is selected, so that Enter opens it. */
function useFirstSelected(count: number): void {
  useEffect(() => {
    const list = document.getElementById(listId);
    if (count === 0 || store.getState().query === '' || list?.querySelector('[data-selected]')) return;
    list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
    store.updateState((state) => ({ ...state, selected: 0 }));
  }, [count]);
}
