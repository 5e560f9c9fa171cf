import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './app/global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import type { Json } from './api/contract.ts';
import { keys, readSession, sessionOptions } from './api/queries.ts';
import { onRefusal, queryClient } from './api/query-client.ts';
import { ApiError } from './api/request.ts';
import { Announcer } from './app/announcer.tsx';
import { keepFocus } from './app/keep-focus.ts';
import { returnSearch, router } from './app/router.tsx';
import { currentOrganization } from './app/session.tsx';
import { cssVariables, theme } from './app/theme.ts';
import { endTypeAhead, startTypeAhead } from './app/type-ahead.ts';

/** The page's policy allows only styles with this nonce. The server puts a fresh one into each page. */
const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Dialogs lock scrolling with a style of a library that reads the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });

if (location.pathname === '/new') startTypeAhead();
// Whichever page is shown, for example the sign-in page.
router.subscribe('onRendered', () => void endTypeAhead());

keepFocus();

let isChecking = false;

/**
 * The session may have ended, the person may have been removed from the organization or no longer be an admin, or somebody
 * else may have signed in, in another tab.
 */
async function checkSession(): Promise<void> {
  const { pathname, href } = router.state.location;
  const known = queryClient.getQueryData(sessionOptions.queryKey);
  if (known === undefined || isChecking || pathname === '/sign-in' || pathname === '/invitation') return;
  isChecking = true;
  try {
    applySession(known, await readSession());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) return;
    const search = { ...returnSearch(href), problem: 'session-ended' };
    await router.navigate({ to: '/sign-in', search, ignoreBlocker: true });
    // Not earlier, because the page that is being left still uses it.
    queryClient.removeQueries({ queryKey: keys.session });
  } finally {
    isChecking = false;
  }
}

// A wrong password or a deleted thread gets the same status as the end of a session.
onRefusal(() => void checkSession());
addEventListener('focus', () => void checkSession());
// Nothing is refused to a person who was made an admin or has joined another organization.
router.subscribe('onResolved', ({ fromLocation, pathChanged }) => {
  if (fromLocation !== undefined && pathChanged) void checkSession();
});

/** Shows only what the person may still open. */
function applySession(known: Json<'session'>, session: Json<'session'>): void {
  if (session.user.id !== known.user.id) {
    // All of this page was loaded for the person before.
    location.reload();
    return;
  }
  const hadNone = known.organizations.length === 0;
  if (session.organizations.length === 0 && !hadNone) {
    // Loads a new page, because every part of this one shows an organization.
    location.assign('/join');
    return;
  }
  // The person has joined an organization in the meantime.
  if (queryClient.getQueryData(keys.session) !== known) return;
  queryClient.setQueryData(keys.session, session);
  if (hadNone) return;
  const { id, name } = currentOrganization(known);
  if (session.organizations.some((organization) => organization.id === id)) return;
  void router.navigate({ to: '/', ignoreBlocker: true });
  notifications.show({ message: `You are no longer a member of ${name}.` });
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <Announcer />
        <Notifications />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
