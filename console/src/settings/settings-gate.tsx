import { Outlet, useMatches } from '@tanstack/react-router';
import { settingsPages } from '../app/navigation.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { EmptyState } from './empty-state.tsx';

/** Explains a settings page to a person who cannot use it: they followed a link, because the menu does not offer it. */
export function SettingsGate() {
  // Not the path of the window: the router ignores its case and a slash at its end.
  const path: string | undefined = useMatches({ select: (matches) => matches.at(-1)?.fullPath });
  const { name, role, apiEnabled } = useOrganization();
  const page = settingsPages.find(({ to }) => to === path);
  if (page?.admin && role !== 'admin') {
    return (
      <Page title={page.label}>
        <EmptyState title="This page is for admins">
          Only admins of {name} can open this page. If you need access, ask an admin to change your role.
        </EmptyState>
      </Page>
    );
  }
  if (page?.needsApi && !apiEnabled) {
    return (
      <Page title={page.label}>
        <EmptyState title="The public API is not enabled">
          You can’t create credentials for {name}. Threads, documents and members work as usual. To enable the
          public API, contact the operator of this service.
        </EmptyState>
      </Page>
    );
  }
  return <Outlet />;
}
