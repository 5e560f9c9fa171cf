import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Json } from './contract.ts';
import { inOrganization, keepCsrfToken, query, request } from './request.ts';

/** The keys of queries that other files read, change or invalidate. The first part is the organization. */
export const keys = {
  session: ['session'] as const,
  threads: (organizationId: string) => [organizationId, 'threads'] as const,
  thread: (organizationId: string, threadId: string) => [organizationId, 'thread', threadId] as const,
  ratings: (organizationId: string, threadId: string) => [organizationId, 'ratings', threadId] as const,
  unanswered: (organizationId: string) => [organizationId, 'unanswered'] as const,
};

export async function readSession(signal?: AbortSignal): Promise<Json<'session'>> {
  const session = await request<Json<'session'>>('GET', '/session', signal && { signal });
  keepCsrfToken(session.csrfToken);
  return session;
}

/** Read once. `checkSession` in main.tsx reads it again, because not every change of it can be shown on the same page. */
export const sessionOptions = queryOptions({
  queryKey: keys.session,
  queryFn: ({ signal }) => readSession(signal),
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

export const signInOfferOptions = queryOptions({
  queryKey: ['sign-in'],
  queryFn: ({ signal }) => request<Json<'signInOffer'>>('GET', '/sign-in', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Reads `path` of an organization. */
function organizationQuery<Result>(
  organizationId: string,
  path: string,
  queryKey: readonly unknown[] = [organizationId, path],
) {
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => request<Result>('GET', inOrganization(organizationId, path), { signal }),
  });
}

/** Reads `path` of an organization page by page. */
function pagedQuery<Page extends { readonly nextCursor: string | null }>(
  organizationId: string,
  path: string,
  filter: Parameters<typeof query>[0] = {},
  queryKey: readonly unknown[] = [organizationId, path, filter],
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      request<Page>(
        'GET',
        inOrganization(organizationId, `${path}${query({ ...filter, cursor: pageParam ?? undefined })}`),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** The filter of a list, as it is in the URL. */
export interface ListSearch {
  readonly account?: string;
  readonly search?: string;
  readonly state?: 'idle' | 'in_progress' | 'error';
  readonly within?: 'day' | 'week' | 'month' | 'year';
}

export interface ThreadFilter {
  /** Undefined: the person's own and published ones. */
  readonly scope?: 'mine' | 'published' | undefined;
  readonly accountId?: string | undefined;
  readonly search?: string | undefined;
  readonly state?: Json<'threadRow'>['state'] | undefined;
  /** The earliest activity, in milliseconds since 1970. */
  readonly since?: number | undefined;
}

export function threadsOptions(organizationId: string, filter: ThreadFilter, limit = 30) {
  const key = [...keys.threads(organizationId), filter, limit];
  return pagedQuery<Json<'threadList'>>(organizationId, '/threads', { ...filter, limit }, key);
}

const recentThreads = 6;

/** The threads in the sidebar. They are read again every few seconds, and more often while a reply is being written. */
export function recentOptions(organizationId: string) {
  return queryOptions({
    queryKey: [...keys.threads(organizationId), 'recent'],
    queryFn: ({ signal }) =>
      request<Json<'threadList'>>(
        'GET',
        inOrganization(organizationId, `/threads${query({ scope: 'mine', limit: recentThreads })}`),
        { signal, headers: { 'x-skein-background': '1' } },
      ),
    refetchInterval: ({ state: { data } }) =>
      data?.threads.some(({ state }) => state === 'in_progress') ? 1500 : 10_000,
  });
}

export function threadOptions(organizationId: string, threadId: string) {
  const path = `/threads/${encodeURIComponent(threadId)}`;
  return organizationQuery<Json<'threadView'>>(organizationId, path, keys.thread(organizationId, threadId));
}

/** The person's own ratings. They change only through this page. */
export function ratingsOptions(organizationId: string, threadId: string) {
  const path = `/threads/${encodeURIComponent(threadId)}/ratings`;
  const key = keys.ratings(organizationId, threadId);
  return { ...organizationQuery<Json<'ratings'>>(organizationId, path, key), staleTime: 60_000 };
}

export function unansweredOptions(organizationId: string) {
  return pagedQuery<Json<'unansweredPage'>>(
    organizationId,
    '/unanswered',
    {},
    keys.unanswered(organizationId),
  );
}

export function closestPassagesOptions(organizationId: string, question: string, accountId: string | null) {
  return queryOptions({
    queryKey: [organizationId, 'closest-passages', question, accountId],
    queryFn: ({ signal }) =>
      request<Json<'foundPassages'>>('POST', inOrganization(organizationId, '/documents/search'), {
        body: { question, ...(accountId !== null && { accountId }), asked: true },
        signal,
      }),
  });
}

/** Finds the person's organization that has the thread or the document. */
export function readHome(id: string): Promise<Json<'home'>> {
  return request<Json<'home'>>('GET', `/home/${encodeURIComponent(id)}`);
}

export function accountsOptions(organizationId: string, prefix: string) {
  return {
    ...organizationQuery<Json<'accounts'>>(organizationId, `/accounts${query({ prefix })}`),
    staleTime: 60_000,
  };
}

export const keysOptions = (organizationId: string) =>
  organizationQuery<Json<'keys'>>(organizationId, '/keys');

export const applicationsOptions = (organizationId: string) =>
  organizationQuery<Json<'applications'>>(organizationId, '/applications');

export const membersOptions = (organizationId: string) =>
  organizationQuery<Json<'members'>>(organizationId, '/members');

export const documentsOptions = (organizationId: string) =>
  organizationQuery<Json<'documents'>>(organizationId, '/documents');

/** What a link from a reply to a document says about the passage that it cites. */
export interface Citation {
  /** The words of the reply. */
  readonly cited?: string;
  /** The words of the passage. */
  readonly snippet?: string;
  /** When the reply was written. */
  readonly since?: string;
}

export function documentOptions(organizationId: string, documentId: string, { cited, snippet }: Citation) {
  const path = `/documents/${encodeURIComponent(documentId)}${query({ cited, snippet })}`;
  return { ...organizationQuery<Json<'openedDocument'>>(organizationId, path), staleTime: 30_000 };
}

export const passagesPerPage = 40;

/** `start` is a multiple of `passagesPerPage`. */
export function passagesOptions(organizationId: string, document: Json<'openedDocument'>, start: number) {
  const { id, addedAt, passages } = document;
  return infiniteQueryOptions({
    // A replaced document keeps its id.
    queryKey: [organizationId, 'passages', id, addedAt, start],
    queryFn: ({ pageParam, signal }) =>
      request<Json<'passages'>>(
        'GET',
        inOrganization(
          organizationId,
          `/documents/${encodeURIComponent(id)}/passages${query({ skip: pageParam, limit: passagesPerPage })}`,
        ),
        { signal },
      ),
    initialPageParam: start,
    getNextPageParam: (_page, _pages, skip) =>
      skip + passagesPerPage < passages ? skip + passagesPerPage : undefined,
    getPreviousPageParam: (_page, _pages, skip) => (skip > 0 ? skip - passagesPerPage : undefined),
    staleTime: 300_000,
  });
}

export const examplesOptions = (organizationId: string, accountId: string) =>
  organizationQuery<Json<'examples'>>(organizationId, `/examples${query({ accountId })}`);

export const firstStepsOptions = (organizationId: string) =>
  organizationQuery<Json<'firstSteps'>>(organizationId, '/first-steps');

export const modelOptions = (organizationId: string) =>
  organizationQuery<Json<'model'>>(organizationId, '/model');

export const usageOptions = (organizationId: string, range: string) =>
  organizationQuery<Json<'usage'>>(organizationId, `/usage${query({ range })}`);

type AuditFilter = Partial<Record<'traceId' | 'actor' | 'action' | 'from' | 'to', string | undefined>>;

export const auditOptions = (organizationId: string, filter: AuditFilter) =>
  pagedQuery<Json<'audit'>>(organizationId, '/audit', { ...filter });

/** The URL of the matching entries as CSV. */
export function auditExportUrl(organizationId: string, filter: AuditFilter): string {
  return `/console${inOrganization(organizationId, `/audit/export${query({ ...filter })}`)}`;
}

export type RequestFilter = Partial<
  Record<'traceId' | 'status' | 'operation' | 'credentialId' | 'from' | 'to', string | undefined>
>;

export const requestsOptions = (organizationId: string, filter: RequestFilter) =>
  pagedQuery<Json<'requests'>>(organizationId, '/requests', { ...filter });
