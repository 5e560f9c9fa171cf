import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Json } from '../api/contract.ts';
import {
  type Citation,
  documentOptions,
  type ListSearch,
  readHome,
  sessionOptions,
  signInOfferOptions,
  threadOptions,
} from '../api/queries.ts';
import { queryClient } from '../api/query-client.ts';
import { ApiError } from '../api/request.ts';
import { FailedPage, FailedWithoutShell, NotFound, NotFoundPage, PendingPage } from './fallback-pages.tsx';
import { auditFilters, readFilters, requestFilters } from './log-search.ts';
import { safeReturn } from './safe-return.ts';
import { currentOrganization, switchOrganization } from './session.tsx';
import { Shell } from './shell.tsx';

const root = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: FailedWithoutShell });

interface SignInSearch {
  readonly returnTo?: string | undefined;
  readonly problem?: string | undefined;
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  // Always returns both: a value that is left out here stays as it is in the URL.
  validateSearch: ({ returnTo, problem }: Record<string, unknown>): SignInSearch => ({
    returnTo: safeReturn(returnTo),
    problem: typeof problem === 'string' ? problem : undefined,
  }),
  // Loaded before the page is shown, so that nothing in it moves. If it fails, passwords still work.
  loader: () => queryClient.ensureQueryData(signInOfferOptions).catch(() => null),
  component: lazyRouteComponent(() => import('../sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  loader: () => queryClient.ensureQueryData(signInOfferOptions).catch(() => null),
  component: lazyRouteComponent(() => import('../sign-in/forgot-password-page.tsx'), 'ForgotPasswordPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../sign-in/invitation-page.tsx'), 'InvitationPage'),
});

const join = createRoute({
  getParentRoute: () => root,
  path: '/join',
  validateSearch: ({ returnTo }: Record<string, unknown>): Pick<SignInSearch, 'returnTo'> => ({
    returnTo: safeReturn(returnTo),
  }),
  beforeLoad: ({ location }) => ensureSession(location.href),
  component: lazyRouteComponent(() => import('../sign-in/join-page.tsx'), 'JoinPage'),
});

/** Sends people who are not signed in to the sign-in page, and back afterwards. */
async function ensureSession(path: string): Promise<Json<'session'>> {
  try {
    return await queryClient.ensureQueryData(sessionOptions);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw redirect({ to: '/sign-in', search: returnSearch(path) });
  }
}

/** The parent of all pages that need a session. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signedIn',
  beforeLoad: async ({ location }) => {
    const { organizations } = await ensureSession(location.href);
    if (organizations.length === 0) throw redirect({ to: '/join', search: returnSearch(location.href) });
  },
  component: Shell,
  errorComponent: FailedWithoutShell,
});

export function returnSearch(path: string): { returnTo?: string } {
  return path === '/' ? {} : { returnTo: path };
}

function listSearch({ account, search, state, within }: Record<string, unknown>): ListSearch {
  return {
    ...(account !== undefined && account !== '' && { account: String(account) }),
    ...(search !== undefined && search !== '' && { search: String(search) }),
    ...((state === 'idle' || state === 'in_progress' || state === 'error') && { state }),
    ...((within === 'day' || within === 'week' || within === 'month' || within === 'year') && { within }),
  };
}

const mine = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../threads/thread-list-page.tsx'), 'MinePage'),
});

const published = createRoute({
  getParentRoute: () => signedIn,
  path: '/published',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../threads/thread-list-page.tsx'), 'PublishedPage'),
});

const newThread = createRoute({
  getParentRoute: () => signedIn,
  path: '/new',
  component: lazyRouteComponent(() => import('../threads/new-thread-page.tsx'), 'NewThreadPage'),
});

const thread = createRoute({
  getParentRoute: () => signedIn,
  path: '/threads/$threadId',
  loader: ({ params: { threadId }, preload }) =>
    openInItsOrganization(threadId, preload, (organizationId) =>
      queryClient.ensureQueryData(threadOptions(organizationId, threadId)),
    ),
  component: lazyRouteComponent(() => import('../thread/thread-page.tsx'), 'ThreadPage'),
  notFoundComponent: () => <NotFound what="Thread" />,
});

const document = createRoute({
  getParentRoute: () => signedIn,
  path: '/documents/$documentId',
  validateSearch: ({ cited, snippet, since }: Record<string, unknown>): Citation => ({
    ...(typeof cited === 'string' && cited !== '' && { cited: cited.slice(0, 1_000).toWellFormed() }),
    ...(typeof snippet === 'string' && snippet !== '' && { snippet: snippet.slice(0, 1_000).toWellFormed() }),
    ...(typeof since === 'string' && { since }),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ params: { documentId }, deps, preload }) =>
    openInItsOrganization(documentId, preload, (organizationId) =>
      queryClient.ensureQueryData(documentOptions(organizationId, documentId, deps)),
    ),
  component: lazyRouteComponent(() => import('../document/document-page.tsx'), 'DocumentPage'),
  notFoundComponent: () => <NotFound what="Document" />,
});

/** A link to a thread or document of another of the person's organizations opens it there. */
async function openInItsOrganization(
  id: string,
  preload: boolean,
  load: (organizationId: string) => Promise<unknown>,
): Promise<void> {
  const session = await queryClient.ensureQueryData(sessionOptions);
  try {
    await load(currentOrganization(session).id);
  } catch (error) {
    if (!isNotFound(error) || preload) throw error;
    const organizationId = await findOrganization(id);
    await load(organizationId);
    switchOrganization(organizationId);
  }
}

async function findOrganization(id: string): Promise<string> {
  try {
    return (await readHome(id)).organizationId;
  } catch (error) {
    throw isNotFound(error) ? notFound() : error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Unknown paths also need a session, so that they look like the application. */
const anyOtherPath = createRoute({ getParentRoute: () => signedIn, path: '$', component: NotFoundPage });

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyRouteComponent(() => import('../settings/settings-gate.tsx'), 'SettingsGate'),
});

const inSettings = { getParentRoute: () => settings };

const settingPages = [
  createRoute({
    ...inSettings,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/settings/keys' });
    },
  }),
  settingPage('/keys', () => import('../settings/keys-page.tsx'), 'KeysPage'),
  settingPage('/applications', () => import('../settings/applications-page.tsx'), 'ApplicationsPage'),
  settingPage('/members', () => import('../settings/members-page.tsx'), 'MembersPage'),
  settingPage('/documents', () => import('../settings/documents-page.tsx'), 'DocumentsPage'),
  settingPage('/unanswered', () => import('../settings/unanswered-page.tsx'), 'UnansweredPage'),
  settingPage('/model', () => import('../settings/model-page.tsx'), 'ModelPage'),
  settingPage('/account', () => import('../settings/account-page.tsx'), 'AccountPage'),
  createRoute({
    ...inSettings,
    path: '/usage',
    validateSearch: ({ range }: Record<string, unknown>): { range?: '24h' | '7d' | '30d' | '90d' } =>
      range === '24h' || range === '7d' || range === '30d' || range === '90d' ? { range } : {},
    component: lazyRouteComponent(() => import('../settings/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...inSettings,
    path: '/requests',
    validateSearch: readFilters(requestFilters),
    component: lazyRouteComponent(() => import('../settings/requests-page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    ...inSettings,
    path: '/audit',
    validateSearch: readFilters(auditFilters),
    component: lazyRouteComponent(() => import('../settings/audit-page.tsx'), 'AuditPage'),
  }),
] as const;

function settingPage<const Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) {
  return createRoute({ ...inSettings, path, component: lazyRouteComponent(load, name) });
}

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    forgotPassword,
    invitation,
    join,
    signedIn.addChildren([
      mine,
      published,
      newThread,
      thread,
      document,
      settings.addChildren(settingPages),
      anyOtherPath,
    ]),
  ]),
  defaultPreload: 'intent',
  // The query client decides when data is stale.
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: FailedPage,
  defaultNotFoundComponent: NotFoundPage,
  defaultPendingComponent: PendingPage,
  defaultPendingMs: 300,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
