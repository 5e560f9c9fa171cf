import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './request.ts';

let onRefused: () => void = () => undefined;

/** Calls back whenever a query or a mutation was answered with 401. */
export function whenRefused(callback: () => void): void {
  onRefused = callback;
}

function notice(error: Error): void {
  if (error instanceof ApiError && error.status === 401) onRefused();
}

/** What is worth asking again by itself: nothing answered, or the service failed. */
function mayPass(error: Error): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      // Asks also where the browser believes to be offline: the service may be on this machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
