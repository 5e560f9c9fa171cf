import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { ApiError } from './request.ts';

let refusalCallback: () => void = () => undefined;

/** Calls back whenever a query or mutation is refused: the session, the membership or the role may have ended. */
export function onRefusal(callback: () => void): void {
  refusalCallback = callback;
}

function reportRefusal(error: Error): void {
  if (error instanceof ApiError && [401, 403, 404].includes(error.status)) refusalCallback();
}

/** The first request of a page without a session gets 401, which is expected. */
function isFirstSessionRead(key: QueryKey, known: unknown): boolean {
  return key[0] === 'session' && known === undefined;
}

/** Whether a retry may help: there was no response, or the service failed. */
function isTransient(error: Error): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey, state }) => {
      if (!isFirstSessionRead(queryKey, state.data)) reportRefusal(error);
    },
  }),
  mutationCache: new MutationCache({ onError: reportRefusal }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < 2 && isTransient(error),
      // Send requests even if the browser reports being offline: the service may be on this machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
