import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './app/global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { keys, readSession } from './api/queries.ts';
import { queryClient, whenRefused } from './api/query-client.ts';
import { ApiError } from './api/request.ts';
import { Announcer } from './app/announcer.tsx';
import { returnSearch, router } from './app/router.tsx';
import { cssVariables, theme } from './app/theme.ts';

/** The page's policy allows only styles with this nonce. The server puts a fresh one into each page. */
const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Dialogs lock scrolling with a style of a library that reads the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });

let isChecking = false;

/**
 * Opens the sign-in page when a request is rejected because the session has ended, and returns afterwards. A wrong
 * password is rejected with the same status, so the session is read again: it has ended if that is rejected, too.
 */
whenRefused(() => {
  const { pathname, href } = router.state.location;
  if (isChecking || pathname === '/sign-in' || pathname === '/invitation') return;
  isChecking = true;
  void readSession()
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401) return;
      queryClient.removeQueries({ queryKey: keys.session });
      return router.navigate({ to: '/sign-in', search: { ...returnSearch(href), problem: 'session-ended' } });
    })
    .finally(() => {
      isChecking = false;
    });
});

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
