import { useSuspenseQuery } from '@tanstack/react-query';
import type { Json } from '../api/contract.ts';
import { sessionOptions } from '../api/queries.ts';
import { queryClient } from '../api/query-client.ts';
import { readStored, writeStored } from './local-storage.ts';
import { sharedValue } from './shared-value.ts';

/** The organizations that were chosen in this window, by person. */
const chosen = sharedValue<Readonly<Record<string, string>>>({});

/** For pages with a session only. The router checks that before it shows them. */
export function useSession(): Json<'session'> {
  return useSuspenseQuery(sessionOptions).data;
}

/** The lengths and sizes that the service accepts. */
export function useLimits(): Json<'limits'> {
  return useSession().limits;
}

/** The organization that the person is looking at. */
export function useOrganization(): Json<'organization'> {
  chosen.use();
  return currentOrganization(useSession());
}

/** The one chosen in this window, or the last one in this browser, or the first. Also works outside of React. */
export function currentOrganization({ user, organizations }: Json<'session'>): Json<'organization'> {
  const id = chosen.get()[user.id] ?? readStored(storageName(user.id));
  return (organizations.find((organization) => organization.id === id) ??
    organizations[0]) as Json<'organization'>;
}

/** Other windows stay where they are. Windows that are opened later start in this organization. */
export function switchOrganization(organizationId: string): void {
  const userId = queryClient.getQueryData(sessionOptions.queryKey)?.user.id;
  if (userId === undefined) return;
  writeStored(storageName(userId), organizationId);
  chosen.set({ ...chosen.get(), [userId]: organizationId });
}

function storageName(userId: string): string {
  return `organization.${userId}`;
}
