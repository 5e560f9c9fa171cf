import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { sendError } from '../error-response.ts';
import { credentialRoutes } from './credential-routes.ts';
import { mountConsoleRoute } from './mount.ts';
import { organizationRoutes } from './organization-routes.ts';
import type { ConsoleOptions, ConsoleRoute } from './route.ts';
import { sessionRoutes } from './session-routes.ts';
import { ssoRoutes } from './sso-routes.ts';
import { threadRoutes } from './thread-routes.ts';
import { removeLeftUploads } from './uploads.ts';

export function consoleRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    ...sessionRoutes(options),
    ...ssoRoutes(options),
    ...threadRoutes(options),
    ...credentialRoutes(options),
    ...organizationRoutes(options),
  ];
}

/** The backend of the web application, under `/console`. Callers have a session cookie; the quota does not apply. */
export function consoleBackend(context: SurfaceContext, options: ConsoleOptions) {
  return async (app: FastifyInstance): Promise<void> => {
    await removeLeftUploads(options.uploadFolder);
    await app.register(cookie);
    app.decorateRequest('signedIn');
    app.decorateRequest('upload');
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply, false));
    // Makes the hooks above apply to unknown paths. The handler is never called: app.ts answers them before reading a body.
    app.setNotFoundHandler(() => {});
    for (const route of consoleRoutes(options)) mountConsoleRoute(app, context, options, route);
  };
}
