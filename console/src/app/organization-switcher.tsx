import { Menu, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { announce } from './announcer.tsx';
import { switchOrganization, useOrganization, useSession } from './session.tsx';
import classes from './sidebar.module.css';
import { SkeinMark } from './skein-mark.tsx';

/** Shows the name of the organization, with a menu if the person has several. */
export function OrganizationSwitcher() {
  const { organizations } = useSession();
  const current = useOrganization();
  const choose = useChoose();
  if (organizations.length === 1) {
    return (
      <div className={classes.organization}>
        <SkeinMark />
        <span className={classes.name} title={current.name}>
          {current.name}
        </span>
      </div>
    );
  }
  return (
    <Menu position="bottom-start" width="target">
      <Menu.Target>
        <UnstyledButton className={classes.organization}>
          <VisuallyHidden>Switch organization, currently</VisuallyHidden>
          <SkeinMark />
          <span className={classes.name} title={current.name}>
            {current.name}
          </span>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Organizations</Menu.Label>
        <Menu.RadioGroup value={current.id} onChange={choose}>
          {organizations.map(({ id, name }) => (
            <Menu.RadioItem key={id} value={id} closeMenuOnClick>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

/** An admin stays on a settings page. Everyone else goes to the thread list, because a thread belongs to one organization. */
function useChoose() {
  const { organizations } = useSession();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  return (id: string) => {
    switchOrganization(id);
    const chosen = organizations.find((organization) => organization.id === id);
    announce(`Switched to ${chosen?.name ?? id}`);
    if (!pathname.startsWith('/settings') || chosen?.role !== 'admin') void navigate({ to: '/' });
  };
}
