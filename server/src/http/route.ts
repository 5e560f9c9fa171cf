import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import { type ErrorCode, forbidden } from '../domain/errors.ts';
import type { Principal, UserPrincipal } from '../domain/principal.ts';
import type { Admission } from '../usecases/credentials/authenticate.ts';
import { matchesEntityTag } from './request.ts';
import { type HeldRequests, type Piece, streamOf, whileAdmitted } from './wire/index.ts';

/** Who may call a route: every principal, or only users (an org-wide principal gets 403 before any other check). */
interface CallerKinds {
  anyone: Principal;
  user: UserPrincipal;
}

export type Caller = keyof CallerKinds;

/** The JSON of a body. */
export type Rendered<Body> = (string | Buffer) & { readonly body?: Body };

export function rendered<Body>(body: Body): string & Rendered<Body> {
  return JSON.stringify(body);
}

/**
 * JSON to be kept, as bytes: a string would be encoded again for each response. They are not in Node's pool of small
 * buffers, where one part would keep the whole pool in memory.
 */
export function encoded(json: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json));
  bytes.write(json);
  return bytes;
}

type Values = Record<string, unknown>;

const jsonType = 'application/json; charset=utf-8';
/** The Cache-Control of a response with an ETag. */
const revalidated = 'private, no-cache';

export interface RouteResponse<Body = unknown> {
  /** Undefined if the caller already has it: the response is 304. A large body is sent in pieces. */
  readonly body: Rendered<Body> | AsyncIterable<Piece> | undefined;
  /** Sent with a response that can be revalidated. */
  readonly etag?: string;
  readonly headers?: Record<string, string>;
}

export interface Call<
  P extends Principal = UserPrincipal,
  Path = Values,
  Query = Values,
  Headers = Values,
  Body = Values,
> {
  readonly principal: P;
  readonly path: Path;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly traceId: string;
  /**
   * Runs `wait` until it is done, `ms` have passed, the caller disconnects or the service stops. Then authenticates the
   * caller again, because the credential may have been revoked in the meantime.
   */
  hold(ms: number, wait: (until: AbortSignal) => Promise<void>): Promise<P>;
}

/**
 * A route is one value. Authorization, validation and the OpenAPI document all derive from it, and the handler's types
 * do too: a handler that needs a user does not compile on a route that anyone may call.
 */
export interface Route<
  C extends Caller = Caller,
  Path extends TObject = TObject,
  Query extends TObject = TObject,
  Headers extends TObject = TObject,
  Body extends TObject = TObject,
  Response extends TSchema = TSchema,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly caller: C;
  readonly path?: Path;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  readonly success: { readonly status: 200 | 201; readonly schema: Response; readonly conditional?: boolean };
  readonly errors: Partial<Record<ErrorCode, string>>;
  handle(
    call: Call<CallerKinds[C], Static<Path>, Static<Query>, Static<Headers>, Static<Body>>,
  ): Promise<RouteResponse<Static<Response>>>;
}

/** Lets the schemas of a route type its handler. */
export function defineRoute<
  C extends Caller,
  Path extends TObject,
  Query extends TObject,
  Headers extends TObject,
  Body extends TObject,
  Response extends TSchema,
>(route: Route<C, Path, Query, Headers, Body, Response>): Route {
  return route as unknown as Route;
}

export function mountRoute(
  app: FastifyInstance,
  authenticate: Admission['authenticate'],
  heldRequests: HeldRequests,
  route: Route,
  openapi: object,
): void {
  app.route({
    method: route.method,
    url: route.url,
    config: { operationId: route.operationId },
    schema: {
      ...openapi,
      ...(route.path && { params: route.path }),
      ...(route.query && { querystring: route.query }),
      ...(route.headers && { headers: route.headers }),
      ...(route.body && { body: route.body }),
    },
    ...(route.caller === 'user' && { onRequest: refuseServicePrincipal }),
    handler: async (request, reply) => {
      const answer = await route.handle({
        principal: request.principal as UserPrincipal,
        path: request.params as Values,
        query: request.query as Values,
        headers: request.headers as Values,
        body: request.body as Values,
        traceId: request.id,
        async hold(ms, wait) {
          await heldRequests.hold(request.principal.organizationId, reply.raw, ms, wait);
          return (await authenticate(request.credential)) as UserPrincipal;
        },
      });
      return send(authenticate, route, reply, answer);
    },
  });
}

async function refuseServicePrincipal({ principal }: FastifyRequest): Promise<void> {
  if (principal.userId !== null) return;
  throw forbidden('Org-wide credentials are read-only. Use a personal key.');
}

function send(
  authenticate: Admission['authenticate'],
  { success }: Route,
  reply: FastifyReply,
  response: RouteResponse,
): FastifyReply {
  const { request } = reply;
  const { body, etag, headers } = response;
  reply.code(success.status).header('content-type', jsonType);
  if (headers) reply.headers(headers);
  if (etag !== undefined) reply.header('etag', etag).header('cache-control', revalidated);
  if (isUnchanged(request.headers, response)) {
    // Without a payload, Fastify adds Content-Length: 0 to HEAD, which would be wrong for a 304 (RFC 9110 §8.6).
    return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined);
  }
  if (typeof body !== 'object' || Buffer.isBuffer(body)) return reply.send(body);
  // Fastify reads what it does not send to a HEAD request.
  const recheck = () => authenticate(request.credential);
  const pieces = request.method === 'HEAD' ? [] : whileAdmitted(body, recheck);
  return reply.send(streamOf(request.principal.organizationId, pieces));
}

/** Whether the response is 304. */
function isUnchanged(headers: Values, { body, etag }: RouteResponse): boolean {
  return etag !== undefined && (body === undefined || matchesEntityTag(headers, etag));
}
