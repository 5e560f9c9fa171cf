import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../domain/limits.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { admitCaller } from '../authenticate.ts';
import type { HeldRequests } from '../held-requests.ts';
import { mountRoute, type Route } from '../route.ts';
import { deleteThreadRoute, renameThreadRoute } from './change-thread.ts';
import { createThreadRoute } from './create-thread.ts';
import { getThreadRoute } from './get-thread.ts';
import { listThreadsRoute } from './list-threads.ts';
import { describeRoute } from './openapi.ts';
import { definitions } from './schemas.ts';

export interface ApiV1Options {
  readonly limits: Limits;
  readonly threadUrl: (id: string) => string;
}

function apiV1Routes({ limits, threadUrl }: ApiV1Options): Route[] {
  return [
    createThreadRoute(limits),
    listThreadsRoute(limits, threadUrl),
    getThreadRoute(threadUrl),
    renameThreadRoute(limits, threadUrl),
    deleteThreadRoute,
  ];
}

/** The public API, under `/api/v1`. Unknown routes check the credential, too: 401 comes before 404. */
export function apiV1(context: SurfaceContext, options: ApiV1Options, heldRequests: HeldRequests) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRequest', admitCaller(context));
    // Makes the hook apply to unknown routes. The handler is never called: app.ts answers them before reading a body.
    app.setNotFoundHandler(() => {});
    for (const definition of definitions) app.addSchema(definition);
    for (const route of apiV1Routes(options))
      mountRoute(app, context, heldRequests, route, describeRoute(route));
  };
}
