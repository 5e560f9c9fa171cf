import { ActionIcon, Burger } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useOverlay } from './overlay.ts';
import { useOrganization } from './session.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.ts';
import { Sidebar } from './sidebar.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const PhoneMenu = lazy(() => import('./phone-menu.tsx'));
const KeyboardHelp = lazy(() => import('./keyboard-help.tsx'));

/** The frame of every page: the sidebar (behind a button on phones), the palette, the shortcuts. */
export function Shell() {
  useShortcuts();
  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      <aside className={classes.sidebar}>
        <Sidebar />
      </aside>
      <PhoneBar />
      <main id="main" tabIndex={-1} className={classes.main}>
        <Outlet />
      </main>
      <Overlays />
    </div>
  );
}

/** Loaded when they are first opened. */
function Overlays() {
  const overlay = useOverlay();
  const palette = useEverOpened(overlay === 'palette');
  const keyboard = useEverOpened(overlay === 'keyboard');
  return (
    <Suspense fallback={null}>
      {palette && <Palette opened={overlay === 'palette'} />}
      {keyboard && <KeyboardHelp opened={overlay === 'keyboard'} />}
    </Suspense>
  );
}

function PhoneBar() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const wasOpened = useEverOpened(opened);
  const { pathname } = useLocation();
  const { name } = useOrganization();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes after navigation.
  useEffect(close, [pathname]);
  return (
    <header className={classes.bar}>
      <Burger opened={opened} onClick={toggle} size="sm" aria-label="Menu" aria-expanded={opened} />
      <span className={classes.barName}>{name}</span>
      <ActionIcon component={Link} to="/new" size="lg" aria-label="New thread">
        <IconPlus size={20} aria-hidden />
      </ActionIcon>
      <Suspense fallback={null}>{wasOpened && <PhoneMenu opened={opened} onClose={close} />}</Suspense>
    </header>
  );
}

/** Whether it has ever been opened. What was loaded stays mounted, so that it can close with an animation. */
function useEverOpened(opened: boolean): boolean {
  const [wasOpened, setWasOpened] = useState(opened);
  if (opened && !wasOpened) setWasOpened(true);
  return wasOpened;
}
