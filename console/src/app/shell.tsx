import { AppShell } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';

export function Shell() {
  return (
    <AppShell>
      <AppShell.Main id="main">
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
