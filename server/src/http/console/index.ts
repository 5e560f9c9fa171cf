import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { sendErrorUnchallenged } from '../error-response.ts';
import { applicationRoutes } from './application-routes.ts';
import { auditRoutes } from './audit-routes.ts';
import { documentRoutes } from './document-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { modelRoutes } from './model-routes.ts';
import { mountConsoleRoute } from './mount.ts';
import type { ConsoleOptions } from './options.ts';
import type { ConsoleRoute } from './route.ts';
import { sessionRoutes } from './session-routes.ts';
import { ssoRoutes } from './sso-routes.ts';
import { threadChangeRoutes } from './thread-change-routes.ts';
import { threadReadRoutes } from './thread-read-routes.ts';
import { removeLeftUploads } from './uploads.ts';
import { usageRoutes } from './usage-routes.ts';

export function consoleRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    ...sessionRoutes(options),
    ...ssoRoutes(options),
    ...threadReadRoutes(options),
    ...threadChangeRoutes(options),
    ...keyRoutes(options),
    ...applicationRoutes(options),
    ...memberRoutes(options),
    ...documentRoutes(options),
    ...modelRoutes(options),
    ...usageRoutes,
    ...auditRoutes,
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
    app.setErrorHandler(sendErrorUnchallenged);
    // Makes the hooks above apply to unknown paths. The handler is never called: app.ts answers them before reading a body.
    app.setNotFoundHandler(() => {});
    for (const route of consoleRoutes(options)) mountConsoleRoute(app, context, options, route);
  };
}
