import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import type { Json } from '../api/contract.ts';
import { keys } from '../api/queries.ts';
import { keepCsrfToken } from '../api/request.ts';

/** Opens the application with a new session, and clears data that another person loaded in this window. */
export function useStartSession(): (session: Json<'session'>, path: string) => void {
  const queryClient = useQueryClient();
  const router = useRouter();
  return (session, path) => {
    queryClient.clear();
    keepCsrfToken(session.csrfToken);
    queryClient.setQueryData(keys.session, session);
    router.history.replace(path);
  };
}
