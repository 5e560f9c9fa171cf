import { useSuspenseQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { LimitsJson, OrganizationJson, SessionJson } from '../api/contract.ts';
import { sessionOptions } from '../api/queries.ts';
import { queryClient } from '../api/query-client.ts';
import { keep, readKept } from './kept.ts';

/** The person's. Pages behind the door have one: the router sees to it before it shows them. */
export function useSession(): SessionJson {
  return useSuspenseQuery(sessionOptions).data;
}

/** What the service accepts: lengths, sizes. */
export function useLimits(): LimitsJson {
  return useSession().limits;
}

/** The organization that the person is looking at. */
export function useOrganization(): OrganizationJson {
  const session = useSession();
  useSyncExternalStore(subscribe, () => entered.get(session.user.id));
  return currentOrganization(session);
}

/** Chosen in this window, else where the person was last, else the first. Outside of React, too. */
export function currentOrganization({ user, organizations }: SessionJson): OrganizationJson {
  const id = entered.get(user.id) ?? readKept(storageName(user.id));
  return (organizations.find((organization) => organization.id === id) ??
    organizations[0]) as OrganizationJson;
}

/** Another window stays where it is; the next one to be opened begins here. */
export function switchOrganization(organizationId: string): void {
  const session = queryClient.getQueryData(sessionOptions.queryKey);
  if (session === undefined) return;
  entered.set(session.user.id, organizationId);
  keep(storageName(session.user.id), organizationId);
  for (const listener of listeners) listener();
}

const entered = new Map<string, string>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function storageName(userId: string): string {
  return `organization.${userId}`;
}
