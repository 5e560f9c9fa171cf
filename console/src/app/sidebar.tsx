import { Button, CloseButton, Group, Kbd, UnstyledButton } from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';
import { recentOptions } from '../api/queries.ts';
import { RecentThreads } from '../threads/recent-threads.tsx';
import { AccountMenu } from './account-menu.tsx';
import { settingsPagesFor, threadPages } from './navigation.ts';
import { OrganizationSwitcher } from './organization-switcher.tsx';
import { openOverlay } from './overlay.ts';
import { useOrganization } from './session.tsx';
import { controlKey } from './shortcuts.ts';
import classes from './sidebar.module.css';

/** `onClose` is set on a phone, where the sidebar covers the page. */
export function Sidebar({ onClose }: { onClose?: () => void }) {
  const { id, role } = useOrganization();
  const nav = useActiveInView(id);
  return (
    <div className={classes.sidebar}>
      <Group gap="xs" wrap="nowrap">
        <OrganizationSwitcher />
        {onClose && <CloseButton aria-label="Close menu" onClick={onClose} />}
      </Group>
      <Button
        component={Link}
        to="/new"
        fullWidth
        justify="flex-start"
        leftSection={<IconPlus size={18} aria-hidden />}
      >
        New thread
      </Button>
      <UnstyledButton
        className={classes.find}
        onClick={() => {
          onClose?.();
          openOverlay('palette');
        }}
      >
        <IconSearch size={18} aria-hidden />
        <span>Find</span>
        <Kbd size="xs" visibleFrom="sm" aria-hidden>
          {controlKey} K
        </Kbd>
      </UnstyledButton>
      <nav aria-label="Main" className={classes.nav} ref={nav}>
        <Pages heading="Threads" pages={threadPages} />
        <RecentThreads />
        <Pages heading="Settings" pages={settingsPagesFor(role)} />
      </nav>
      <AccountMenu />
    </div>
  );
}

/** Scrolls to the link of the current page, and again when the recent threads above it appear. */
function useActiveInView(organizationId: string): RefObject<HTMLElement | null> {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const recent = useQuery(recentOptions(organizationId)).data?.threads.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: either change can move the link.
  useEffect(() => {
    const link = nav.current?.querySelector('[aria-current=page]')?.getBoundingClientRect();
    if (!nav.current || !link) return;
    // Not scrollIntoView, which would make the next Tab start from the link.
    const { top, bottom } = nav.current.getBoundingClientRect();
    nav.current.scrollTop += Math.max(0, link.bottom - bottom) + Math.min(0, link.top - top);
  }, [pathname, recent]);
  return nav;
}

type SidebarPage = (typeof threadPages)[number] | ReturnType<typeof settingsPagesFor>[number];

function Pages({ heading, pages }: { heading: string; pages: readonly SidebarPage[] }) {
  return (
    <section aria-label={heading}>
      <p className={classes.heading} aria-hidden>
        {heading}
      </p>
      <ul className={classes.pages}>
        {pages.map(({ to, label, Icon }) => (
          <li key={to}>
            <Link
              to={to}
              className={classes.place ?? ''}
              activeOptions={{ exact: true, includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              <Icon size={18} stroke={1.75} aria-hidden />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
