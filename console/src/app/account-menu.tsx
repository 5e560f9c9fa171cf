import {
  type MantineColorScheme,
  Menu,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBook2, IconKeyboard, IconLogout, IconSelector, IconUserCircle } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { request } from '../api/request.ts';
import { failureText } from './failure.tsx';
import { openOverlay } from './overlay.ts';
import { useOrganization, useSession } from './session.tsx';
import classes from './sidebar.module.css';

export function AccountMenu() {
  const { user } = useSession();
  const { role } = useOrganization();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signingOut = useSignOut();
  return (
    <Menu position="top-start" width="target">
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <VisuallyHidden>Your account:</VisuallyHidden>
          <span className={classes.initial} aria-hidden>
            {user.email.slice(0, 1).toUpperCase()}
          </span>
          <span className={classes.person}>
            <span className={classes.name}>{user.email}</span>
            <span className={classes.role}>{role === 'admin' ? 'Admin' : 'Member'}</span>
          </span>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component={Link}
          to="/settings/account"
          leftSection={<IconUserCircle size={18} aria-hidden />}
        >
          Your account
        </Menu.Item>
        <Menu.Item
          leftSection={<IconKeyboard size={18} aria-hidden />}
          onClick={() => openOverlay('keyboard')}
        >
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          component="a"
          href="/docs/"
          target="_blank"
          leftSection={<IconBook2 size={18} aria-hidden />}
        >
          Documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}
        >
          <Menu.RadioItem value="light">Light</Menu.RadioItem>
          <Menu.RadioItem value="dark">Dark</Menu.RadioItem>
          <Menu.RadioItem value="auto">System</Menu.RadioItem>
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={18} aria-hidden />}
          disabled={signingOut.isPending}
          onClick={() => signingOut.mutate()}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Loads a new page, so that nothing that was read stays in memory. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => request('POST', '/sign-out'),
    onSuccess: () => location.assign('/sign-in'),
    // The session is probably still valid.
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t sign out', message: failureText(error) }),
  });
}
