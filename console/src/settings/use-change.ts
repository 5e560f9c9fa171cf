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
export function useChange<Result = unknown>(): UseMutationResult<Result, ApiError, Change> {
  const { id } = useOrganization();
  const refresh = useRefresh();
  return useMutation<Result, ApiError, Change>({
    mutationFn: ({ method, path, body }) =>
      request<Result>(method, inOrganization(id, path), body === undefined ? {} : { body }),
    onSuccess: refresh,
  });
}

/** Refetches everything of the organization: removing a member also revokes keys and adds an audit entry. */
export function useRefresh(): () => Promise<void> {
  const { id } = useOrganization();
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: [id] });
}
