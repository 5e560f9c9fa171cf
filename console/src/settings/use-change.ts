import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ApiError, inOrganization, request } from '../api/request.ts';
import { useOrganization } from '../app/session.tsx';

export interface Change {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** Below the organization. */
  readonly path: string;
  readonly body?: unknown;
}

/** Changes something in the current organization and refetches what is shown of it. */
export function useChange<Answer = unknown>(): UseMutationResult<Answer, ApiError, Change> {
  const { id } = useOrganization();
  const refresh = useRefresh();
  return useMutation<Answer, ApiError, Change>({
    mutationFn: ({ method, path, body }) =>
      request<Answer>(method, inOrganization(id, path), body === undefined ? {} : { body }),
    onSuccess: refresh,
  });
}

/** All of the organization, since one change shows in many places: a removed member's keys are gone, and the log knows. */
export function useRefresh(): () => Promise<void> {
  const { id } = useOrganization();
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: [id] });
}
