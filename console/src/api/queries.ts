import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type {
  AccountsJson,
  ApplicationsJson,
  AuditJson,
  DocumentsJson,
  ExamplesJson,
  FirstStepsJson,
  FoundPassagesJson,
  HomeJson,
  KeysJson,
  MembersJson,
  ModelJson,
  OpenedDocumentJson,
  PassagesJson,
  RatingsJson,
  RequestsJson,
  SessionJson,
  SignInOffer,
  ThreadListJson,
  ThreadRowJson,
  ThreadViewJson,
  UnansweredPageJson,
  UsageJson,
} from './contract.ts';
import { inOrganization, keepCsrfToken, query, request } from './request.ts';

/** The query keys, with one prefix per page for `invalidateQueries`. */
export const keys = {
  session: ['session'] as const,
  threads: (organizationId: string) => [organizationId, 'threads'] as const,
  thread: (organizationId: string, threadId: string) => [organizationId, 'thread', threadId] as const,
  ratings: (organizationId: string, threadId: string) => [organizationId, 'ratings', threadId] as const,
  unanswered: (organizationId: string) => [organizationId, 'unanswered'] as const,
  closestPassages: (organizationId: string) => [organizationId, 'closest-passages'] as const,
  accounts: (organizationId: string) => [organizationId, 'accounts'] as const,
  apiKeys: (organizationId: string) => [organizationId, 'keys'] as const,
  applications: (organizationId: string) => [organizationId, 'applications'] as const,
  members: (organizationId: string) => [organizationId, 'members'] as const,
  documents: (organizationId: string) => [organizationId, 'documents'] as const,
  document: (organizationId: string, documentId: string) =>
    [...keys.documents(organizationId), documentId] as const,
  examples: (organizationId: string) => [organizationId, 'examples'] as const,
  firstSteps: (organizationId: string) => [organizationId, 'first-steps'] as const,
  model: (organizationId: string) => [organizationId, 'model'] as const,
  usage: (organizationId: string) => [organizationId, 'usage'] as const,
  requests: (organizationId: string) => [organizationId, 'requests'] as const,
  audit: (organizationId: string) => [organizationId, 'audit'] as const,
};

export async function readSession(signal?: AbortSignal): Promise<SessionJson> {
  const session = await request<SessionJson>('GET', '/session', signal && { signal });
  keepCsrfToken(session.csrfToken);
  return session;
}

export const sessionOptions = queryOptions({
  queryKey: keys.session,
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
  gcTime: Number.POSITIVE_INFINITY,
});

export const signInOfferOptions = queryOptions({
  queryKey: ['sign-in'],
  queryFn: ({ signal }) => request<SignInOffer>('GET', '/sign-in', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

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
  readonly state?: ThreadRowJson['state'] | undefined;
  /** The earliest activity, in milliseconds since 1970. */
  readonly since?: number | undefined;
}

export function threadsOptions(organizationId: string, filter: ThreadFilter, limit = 30) {
  return infiniteQueryOptions({
    queryKey: [...keys.threads(organizationId), filter, limit],
    queryFn: ({ pageParam, signal }) =>
      request<ThreadListJson>(
        'GET',
        inOrganization(
          organizationId,
          `/threads${query({ ...filter, cursor: pageParam ?? undefined, limit })}`,
        ),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

const recentThreads = 6;

/** The threads in the sidebar. They are read again every few seconds, and more often while a reply is being written. */
export function recentOptions(organizationId: string) {
  return queryOptions({
    queryKey: [...keys.threads(organizationId), 'recent'],
    queryFn: ({ signal }) =>
      request<ThreadListJson>(
        'GET',
        inOrganization(organizationId, `/threads${query({ scope: 'mine', limit: recentThreads })}`),
        { signal, headers: { 'x-skein-background': '1' } },
      ),
    refetchInterval: ({ state: { data } }) =>
      data?.threads.some(({ state }) => state === 'in_progress') ? 1500 : 10_000,
  });
}

export function threadOptions(organizationId: string, threadId: string) {
  return queryOptions({
    queryKey: keys.thread(organizationId, threadId),
    queryFn: ({ signal }) =>
      request<ThreadViewJson>(
        'GET',
        inOrganization(organizationId, `/threads/${encodeURIComponent(threadId)}`),
        { signal },
      ),
  });
}

/** The person's own ratings. They change only through this page. */
export function ratingsOptions(organizationId: string, threadId: string) {
  return queryOptions({
    queryKey: keys.ratings(organizationId, threadId),
    queryFn: ({ signal }) =>
      request<RatingsJson>(
        'GET',
        inOrganization(organizationId, `/threads/${encodeURIComponent(threadId)}/ratings`),
        { signal },
      ),
    staleTime: 60_000,
  });
}

export function unansweredOptions(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: keys.unanswered(organizationId),
    queryFn: ({ pageParam, signal }) =>
      request<UnansweredPageJson>(
        'GET',
        inOrganization(organizationId, `/unanswered${query({ cursor: pageParam ?? undefined })}`),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

export function closestPassagesOptions(organizationId: string, question: string, accountId: string | null) {
  return queryOptions({
    queryKey: [...keys.closestPassages(organizationId), question, accountId],
    queryFn: ({ signal }) =>
      request<FoundPassagesJson>('POST', inOrganization(organizationId, '/documents/search'), {
        body: { question, ...(accountId !== null && { accountId }), asked: true },
        signal,
      }),
  });
}

/** Finds the person's organization that has the thread or the document. */
export function readHome(id: string): Promise<HomeJson> {
  return request<HomeJson>('GET', `/home/${encodeURIComponent(id)}`);
}

export function accountsOptions(organizationId: string, prefix: string) {
  return queryOptions({
    queryKey: [...keys.accounts(organizationId), prefix],
    queryFn: ({ signal }) =>
      request<AccountsJson>('GET', inOrganization(organizationId, `/accounts${query({ prefix })}`), {
        signal,
      }),
    staleTime: 60_000,
  });
}

export function keysOptions(organizationId: string) {
  return queryOptions({
    queryKey: keys.apiKeys(organizationId),
    queryFn: ({ signal }) => request<KeysJson>('GET', inOrganization(organizationId, '/keys'), { signal }),
  });
}

export function applicationsOptions(organizationId: string) {
  return queryOptions({
    queryKey: keys.applications(organizationId),
    queryFn: ({ signal }) =>
      request<ApplicationsJson>('GET', inOrganization(organizationId, '/applications'), { signal }),
  });
}

export function membersOptions(organizationId: string) {
  return queryOptions({
    queryKey: keys.members(organizationId),
    queryFn: ({ signal }) =>
      request<MembersJson>('GET', inOrganization(organizationId, '/members'), { signal }),
  });
}

export function documentsOptions(organizationId: string) {
  return queryOptions({
    queryKey: keys.documents(organizationId),
    queryFn: ({ signal }) =>
      request<DocumentsJson>('GET', inOrganization(organizationId, '/documents'), { signal }),
  });
}

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
  return queryOptions({
    queryKey: [...keys.document(organizationId, documentId), cited ?? null, snippet ?? null],
    queryFn: ({ signal }) =>
      request<OpenedDocumentJson>(
        'GET',
        inOrganization(
          organizationId,
          `/documents/${encodeURIComponent(documentId)}${query({ cited, snippet })}`,
        ),
        { signal },
      ),
    staleTime: 30_000,
  });
}

export const passagesPerPage = 40;

/** `start` is a multiple of `passagesPerPage`. */
export function passagesOptions(organizationId: string, document: OpenedDocumentJson, start: number) {
  const { id, addedAt, passages } = document;
  return infiniteQueryOptions({
    // A replaced document keeps its id.
    queryKey: [...keys.document(organizationId, id), 'passages', addedAt, start],
    queryFn: ({ pageParam, signal }) =>
      request<PassagesJson>(
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

export function examplesOptions(organizationId: string, accountId: string) {
  return queryOptions({
    queryKey: [...keys.examples(organizationId), accountId],
    queryFn: ({ signal }) =>
      request<ExamplesJson>('GET', inOrganization(organizationId, `/examples${query({ accountId })}`), {
        signal,
      }),
  });
}

export function firstStepsOptions(organizationId: string) {
  return queryOptions({
    queryKey: keys.firstSteps(organizationId),
    queryFn: ({ signal }) =>
      request<FirstStepsJson>('GET', inOrganization(organizationId, '/first-steps'), { signal }),
  });
}

export function modelOptions(organizationId: string) {
  return queryOptions({
    queryKey: keys.model(organizationId),
    queryFn: ({ signal }) => request<ModelJson>('GET', inOrganization(organizationId, '/model'), { signal }),
  });
}

export function usageOptions(organizationId: string, range = '30d') {
  return queryOptions({
    queryKey: [...keys.usage(organizationId), range],
    queryFn: ({ signal }) =>
      request<UsageJson>('GET', inOrganization(organizationId, `/usage${query({ range })}`), { signal }),
  });
}

export interface AuditFilter {
  readonly traceId?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function auditOptions(organizationId: string, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: [...keys.audit(organizationId), filter],
    queryFn: ({ pageParam, signal }) =>
      request<AuditJson>(
        'GET',
        inOrganization(organizationId, `/audit${query({ ...filter, cursor: pageParam ?? undefined })}`),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** The address of the matching entries as CSV. */
export function auditExportUrl(organizationId: string, filter: AuditFilter): string {
  return `/console${inOrganization(organizationId, `/audit/export${query({ ...filter })}`)}`;
}

export interface RequestFilter {
  readonly traceId?: string | undefined;
  readonly status?: string | undefined;
  readonly operation?: string | undefined;
  readonly credentialId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function requestsOptions(organizationId: string, filter: RequestFilter) {
  return infiniteQueryOptions({
    queryKey: [...keys.requests(organizationId), filter],
    queryFn: ({ pageParam, signal }) =>
      request<RequestsJson>(
        'GET',
        inOrganization(organizationId, `/requests${query({ ...filter, cursor: pageParam ?? undefined })}`),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}
