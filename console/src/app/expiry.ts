import { keys, readSession } from '../api/queries.ts';
import { queryClient, whenRefused } from '../api/query-client.ts';
import { ApiError } from '../api/request.ts';
import { returnSearch, router } from './router.tsx';

/**
 * When a request is refused because the session has ended, opens the sign-in page, which leads back afterwards. A wrong
 * password is refused with the same status, so the session is read again: it has ended if that is refused too.
 */
export function watchExpiry(): void {
  let isChecking = false;
  whenRefused(() => {
    const { pathname, href } = router.state.location;
    if (isChecking || pathname === '/sign-in' || pathname === '/invitation') return;
    isChecking = true;
    void readSession()
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.status !== 401) return;
        queryClient.removeQueries({ queryKey: keys.session });
        return router.navigate({
          to: '/sign-in',
          search: { ...returnSearch(href), problem: 'session-ended' },
        });
      })
      .finally(() => {
        isChecking = false;
      });
  });
}
