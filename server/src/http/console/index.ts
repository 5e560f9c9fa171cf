import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { sendErrorUnchallenged } from '../error-response.ts';
import { mountConsoleRoute } from './mount.ts';
import type { ConsoleOptions } from './options.ts';
import type { ConsoleRoute } from './route.ts';
import { sessionRoutes } from './session-routes.ts';
import { settingRoutes } from './setting-routes.ts';
import { ssoRoutes } from './sso-routes.ts';
import { threadRoutes } from './thread-routes.ts';
import { removeLeftUploads } from './uploads.ts';

export function consoleRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    ...sessionRoutes(options),
    ...ssoRoutes(options),
    ...threadRoutes(options),
    ...settingRoutes(options),
  ];
}

/** The backend of the web application, under `/console`. It knows its callers by a cookie, and counts nothing. */
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
    // Binds all of this to unknown addresses, too. It is never reached: app.ts answers them before a body is read.
    app.setNotFoundHandler(() => {});
    for (const route of consoleRoutes(options)) mountConsoleRoute(app, context, options, route);
  };
}
