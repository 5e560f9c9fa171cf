import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { Context } from '../../usecases/context.ts';
import type { EnteredSession } from '../../usecases/read-session.ts';
import { awaitFile } from '../listener.ts';
import { parseQuery, type QuerySchema } from '../query.ts';
import { checkDoorAgain, openDoor } from './door.ts';
import type { ConsoleOptions } from './options.ts';
import type { ConsoleCall, ConsoleRoute } from './route.ts';

/** Makes a route of the value: its door, its validation and its answer follow from it. */
export function mountConsoleRoute(
  app: FastifyInstance,
  context: Context,
  options: ConsoleOptions,
  route: ConsoleRoute,
): void {
  if (route.fileBytesMax !== undefined) {
    // In a scope of its own: elsewhere bodies are JSON.
    app.register(async (scope) => {
      acceptFiles(scope);
      mount(scope, context, options, route);
    });
  } else mount(app, context, options, route);
}

function mount(app: FastifyInstance, context: Context, options: ConsoleOptions, route: ConsoleRoute): void {
  const { query } = route;
  const bodyLimit = route.caller === 'anyone' ? limits.openBodyBytesMax.default : route.fileBytesMax;
  app.route({
    method: route.method,
    url: addressOf(route),
    exposeHeadRoute: false,
    schema: {
      hide: true,
      ...(route.path && { params: route.path }),
      ...(query && { querystring: query }),
      // What a page sends by mistake is better told than dropped.
      ...(route.body && { body: { ...route.body, additionalProperties: false } }),
    },
    ...(bodyLimit !== undefined && { bodyLimit }),
    onRequest: doorOf(context, options, route),
    ...(query && {
      preValidation: async (request) => {
        request.query = parseQuery(request.query as string, query as unknown as QuerySchema);
      },
    }),
    ...(route.method !== 'GET' &&
      route.caller !== 'anyone' && { preHandler: checkDoorAgain(context, options, route.caller) }),
    handler: async (request, reply) => {
      const answer = await route.handle(callOf(context, request, reply));
      if (answer === undefined) return reply;
      return reply
        .code(answer.status ?? 200)
        .header('content-type', 'application/json; charset=utf-8')
        .send(JSON.stringify(answer.body));
    },
  });
}

/** Whoever may send a file may take their time. */
function doorOf(context: Context, options: ConsoleOptions, { caller, fileBytesMax }: ConsoleRoute) {
  const open = openDoor(context, options, caller);
  if (fileBytesMax === undefined) return open;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await open(request, reply);
    awaitFile(request.raw);
  };
}

function addressOf({ caller, url }: ConsoleRoute): string {
  return caller === 'member' || caller === 'admin' ? `/organizations/:organizationId${url}` : url;
}

function callOf(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Parameters<ConsoleRoute['handle']>[0] {
  const session = request.signedIn as EnteredSession;
  const call: ConsoleCall<'member', unknown, unknown, unknown> = {
    context,
    // Undefined only where the route is for anyone: of the others the door has seen to it.
    session,
    principal: session?.principal,
    doer: session && { actor: { kind: 'user', userId: session.session.userId }, traceId: request.id },
    path: request.params,
    query: request.query,
    body: request.body,
    traceId: request.id,
    address: request.ip,
    reply,
  };
  return call as Parameters<ConsoleRoute['handle']>[0];
}

function acceptFiles(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const isFile = request.headers['content-type'] === 'application/octet-stream';
    const fault = 'Content-Type: must be application/octet-stream.';
    done(isFile ? null : new ServiceError('INVALID_PARAMS', fault), body);
  });
}
