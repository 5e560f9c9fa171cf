import { keys, readSession } from '../api/queries.ts';
import { queryClient, whenRefused } from '../api/query-client.ts';
import { ApiError } from '../api/request.ts';
import { returnSearch, router } from './router.tsx';

/**
 * Wherever a request is refused because the session has ended, leads to signing in, and from there back. A wrong password
 * is refused, too: only a session that cannot be read any more has ended.
 */
export function watchExpiry(): void {
  let asking = false;
  whenRefused(() => {
    const { pathname, href } = router.state.location;
    if (asking || pathname === '/sign-in' || pathname === '/invitation') return;
    asking = true;
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
        asking = false;
      });
  });
}
