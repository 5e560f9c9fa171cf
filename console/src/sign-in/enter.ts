import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import type { SessionJson } from '../api/contract.ts';
import { keys } from '../api/queries.ts';
import { keepCsrfToken } from '../api/request.ts';

/** Goes through the door with a fresh session. What somebody else has read in this window is forgotten. */
export function useEnter(): (session: SessionJson, path: string) => void {
  const queryClient = useQueryClient();
  const router = useRouter();
  return (session, path) => {
    queryClient.clear();
    keepCsrfToken(session.csrfToken);
    queryClient.setQueryData(keys.session, session);
    router.history.replace(path);
  };
}
