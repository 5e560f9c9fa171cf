import { Button, CloseButton, Group, Kbd, UnstyledButton } from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { RecentThreads } from '../threads/recent-threads.tsx';
import { AccountMenu } from './account-menu.tsx';
import { OrganizationSwitcher } from './organization-switcher.tsx';
import { openOverlay } from './overlay.ts';
import { settingsFor, threadPlaces } from './places.ts';
import { useOrganization } from './session.tsx';
import classes from './sidebar.module.css';

/** `onClose` is set on a phone, where the sidebar covers the page. */
export function Sidebar({ onClose }: { onClose?: () => void }) {
  const { role } = useOrganization();
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
          Ctrl K
        </Kbd>
      </UnstyledButton>
      <nav aria-label="Main" className={classes.nav}>
        <Places heading="Threads" places={threadPlaces} />
        <RecentThreads />
        <Places heading="Settings" places={settingsFor(role)} />
      </nav>
      <AccountMenu />
    </div>
  );
}

type Place = (typeof threadPlaces)[number] | ReturnType<typeof settingsFor>[number];

function Places({ heading, places }: { heading: string; places: readonly Place[] }) {
  return (
    <section aria-label={heading}>
      <p className={classes.heading} aria-hidden>
        {heading}
      </p>
      <ul className={classes.places}>
        {places.map(({ to, label, Icon }) => (
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
