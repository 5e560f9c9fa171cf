import { ActionIcon, Burger, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { isOpened, type Overlay, useOverlay } from './overlay.ts';
import { useOrganization } from './session.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.ts';
import { Sidebar } from './sidebar.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const KeyboardHelp = lazy(() => import('./keyboard-help.tsx'));

/** What stands around every page: the sidebar (on a phone behind a button), the palette, the shortcuts. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const overlay = useOverlay();
  useShortcuts();
  useFocusOfPage(main);
  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <aside className={classes.sidebar}>
        <Sidebar />
      </aside>
      <PhoneBar />
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <Outlet />
      </main>
      <Overlays overlay={overlay} />
    </div>
  );
}

/** Loaded when they are first asked for. */
function Overlays({ overlay }: { overlay: Overlay }) {
  return (
    <Suspense fallback={null}>
      {isOpened('palette') && <Palette opened={overlay === 'palette'} />}
      {isOpened('keyboard') && <KeyboardHelp opened={overlay === 'keyboard'} />}
    </Suspense>
  );
}

function PhoneBar() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const { name } = useOrganization();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever has arrived does not need the menu any more.
  useEffect(close, [pathname]);
  return (
    <header className={classes.bar}>
      <Burger opened={opened} onClick={toggle} size="sm" aria-label="Menu" aria-expanded={opened} />
      <span className={classes.barName}>{name}</span>
      <ActionIcon component={Link} to="/new" size="lg" aria-label="New thread">
        <IconPlus size={20} aria-hidden />
      </ActionIcon>
      <Drawer
        opened={opened}
        onClose={close}
        size={288}
        padding={0}
        withCloseButton={false}
        aria-label="Menu"
        classNames={{ body: classes.drawer ?? '' }}
      >
        <Sidebar onClose={close} />
      </Drawer>
    </header>
  );
}

/** A link that vanishes with its page takes the focus with it: it then goes to the new page, not to the beginning. */
function useFocusOfPage(main: React.RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
  }, [pathname, main]);
}
