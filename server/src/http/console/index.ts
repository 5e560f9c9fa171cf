import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted } from '../../../../runtime/src/pure/text.ts';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import { AttemptLimit } from '../../domain/attempts.ts';
import { type Limits, limits } from '../../domain/limits.ts';
import { memberKey, type UserPrincipal } from '../../domain/principal.ts';
import type { KnownDevices } from '../../usecases/people/known-devices.ts';
import { type EnteredSession, sessionAuthority } from '../../usecases/people/sessions.ts';
import { sendError } from '../error-response.ts';
import { present } from '../schema.ts';
import { type Pieces, streamOf, whileAdmitted } from '../wire/index.ts';
import { type ActivityRouteNeeds, activityRoutes } from './activity-routes.ts';
import { type CallerCheckNeeds, callerChecks, cookieName, cookieOf, deviceCookie } from './check-caller.ts';
import { type CredentialRouteNeeds, credentialRoutes } from './credential-routes.ts';
import { type OrganizationRouteNeeds, organizationRoutes } from './organization-routes.ts';
import type { ConsoleOptions, ConsoleRoute, MemberCall } from './route.ts';
import { type SessionRouteNeeds, sessionRoutes, ssoRoutes } from './session-routes.ts';
import { type ThreadRouteNeeds, threadRoutes } from './thread-routes.ts';
import { removeLeftUploads } from './uploads.ts';

interface RouteNeeds
  extends SessionRouteNeeds,
    ThreadRouteNeeds,
    CredentialRouteNeeds,
    OrganizationRouteNeeds,
    ActivityRouteNeeds {}

export type ConsoleNeeds = RouteNeeds & CallerCheckNeeds & { readonly knownDevices: KnownDevices };

export function consoleRoutes(needs: RouteNeeds, options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    ...sessionRoutes(needs, options),
    ...ssoRoutes(needs, options),
    ...threadRoutes(needs, options),
    ...credentialRoutes(needs, options),
    ...organizationRoutes(needs, options),
    ...activityRoutes(needs, options),
  ];
}

/** The backend of the web application, under `/console`. Callers have a session cookie; the quota does not apply. */
export function consoleBackend(needs: ConsoleNeeds, options: ConsoleOptions) {
  return async (app: FastifyInstance): Promise<void> => {
    await removeLeftUploads(options.uploadFolder);
    // Lax: a link on another site opens the console signed in, but other sites cannot post to it.
    const parseOptions = {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: options.secure,
    } as const;
    // It only writes cookies: `cookieOf` reads ours without parsing those of other sites.
    await app.register(cookie, { hook: false, parseOptions });
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply, false));
    // Makes the hooks above apply to unknown paths. The handler is never called: app.ts answers them before reading a body.
    app.setNotFoundHandler(() => {});
    const limitChanges = changeLimit(needs.now, options.limits);
    for (const route of consoleRoutes(needs, options)) {
      if (!route.takesFile) mount(app, needs, options, route, limitChanges);
      else {
        // In its own scope, because other routes take JSON. The handler reads the body.
        app.register(async (scope) => {
          scope.removeAllContentTypeParsers();
          scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
          mount(scope, needs, options, route);
        });
      }
    }
  };
}

const organizationUrl = '/organizations/:organizationId';

/** Registers the route: its checks, validation and response derive from the value. */
function mount(
  app: FastifyInstance,
  needs: ConsoleNeeds,
  options: ConsoleOptions,
  route: ConsoleRoute,
  limitChanges: (request: FastifyRequest) => Promise<void> = async () => {},
): void {
  const openBodyLimit = route.caller === 'anyone' ? limits.openBodyBytesMax.default : undefined;
  const bodyLimit = route.takesFile ? options.limits.documentBytesMax : openBodyLimit;
  const { check, recheck } = callerChecks(needs, options, route);
  const isInOrganization = route.caller === 'member' || route.caller === 'admin';
  const isChange = route.method !== 'GET' || route.isRecorded === true;
  app.route({
    method: route.method,
    url: isInOrganization ? `${organizationUrl}${route.url}` : route.url,
    exposeHeadRoute: false,
    config: { takesFile: route.takesFile === true },
    schema: { ...(route.query && { querystring: route.query }), ...(route.body && { body: route.body }) },
    ...(bodyLimit !== undefined && { bodyLimit }),
    onRequest: check,
    ...(isChange && { preHandler: isInOrganization ? [recheck, limitChanges] : recheck }),
    handler: async (request, reply) => {
      const call = callOf(needs.knownDevices, options, reply, () => recheck(request));
      // Pages take turns, so one tenant's large lists delay others by one page at most.
      if (route.method === 'GET' && isInOrganization) await nextTurn(call.organizationId);
      const body = await route.handle(call as Parameters<ConsoleRoute['handle']>[0]);
      if (route.response === null) return reply;
      reply.code(route.status ?? 200).header('content-type', 'application/json; charset=utf-8');
      return isPieces(body)
        ? reply.send(streamOf(call.organizationId, whileAdmitted(body, call.recheck)))
        : reply.send(JSON.stringify(present(route.response, body ?? {})));
    },
  });
}

/**
 * Without a limit, a loop of changes could fill the disk. Uploads have limits of their own. Only changes of an organization
 * count: somebody with a stolen session must not keep its owner from signing out everywhere.
 */
function changeLimit(now: () => number, limits: Limits): (request: FastifyRequest) => Promise<void> {
  const changes = new AttemptLimit(now, limits.consoleChangesPerMinute);
  return async ({ principal }) => {
    changes.admit(memberKey(principal as UserPrincipal), () => {
      const limit = counted(limits.consoleChangesPerMinute, 'change');
      return `You have reached the limit of ${limit} a minute. Wait a minute and try again.`;
    });
  };
}

function isPieces(body: unknown): body is Pieces {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** For routes that anyone may call, there is no session. */
function callOf(
  knownDevices: Pick<KnownDevices, 'open'>,
  options: ConsoleOptions,
  reply: FastifyReply,
  recheck: () => Promise<void>,
): MemberCall {
  const { request } = reply;
  const session = request.signedIn as EnteredSession;
  const principal = request.principal as EnteredSession['principal'];
  return {
    session,
    principal,
    organizationId: principal?.organizationId,
    initiator: session && {
      authority: principal?.authority ?? sessionAuthority(session),
      traceId: request.id,
    },
    path: request.params,
    query: request.query,
    body: request.body,
    traceId: request.id,
    recheck,
    address: request.ip,
    // Only few routes need it.
    get device() {
      return knownDevices.open(cookieOf(request, cookieName(options, deviceCookie)));
    },
    reply,
  };
}
