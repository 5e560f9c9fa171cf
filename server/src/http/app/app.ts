import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  fastify,
  LogController,
} from 'fastify';
import { FairQueue } from '../../../../runtime/src/pure/fair-queue.ts';
import { takeTurn } from '../../../../runtime/src/turns.ts';
import { invalid } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { limits } from '../../domain/limits.ts';
import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import type { RequestSpan, Telemetry, Tracing } from '../../domain/telemetry.ts';
import type { AnsweredRequest } from '../../domain/traffic.ts';
import type { Credential } from '../../usecases/credentials/authenticate.ts';
import type { RequestRecorder } from '../../usecases/organization/request-recorder.ts';
import type { EnteredSession, SignedIn } from '../../usecases/people/sessions.ts';
import { type ApiNeeds, apiV1 } from '../api-v1/index.ts';
import { apiPrefix, publishReference } from '../api-v1/openapi.ts';
import { type ConsoleNeeds, consoleBackend } from '../console/index.ts';
import type { ConsoleOptions } from '../console/route.ts';
import { malformed, routeNotFound, sendError } from '../error-response.ts';
import { acceptJsonBodies } from '../json-body.ts';
import { type OAuthNeeds, type OAuthOptions, oauth } from '../oauth/index.ts';
import { callerOf, createTraceId, normalizeUrl } from '../request.ts';
import { type ReportRequest, reportReply, reportRequest } from '../request-log.ts';
import { formatFaults, lazyCompilers } from '../validation.ts';
import {
  allowSlowBody,
  askForBody,
  createListener,
  HeldRequests,
  joinPieces,
  type ListenerOptions,
  restartTimeLimit,
} from '../wire/index.ts';
import { isPage, type PageOptions, servePages } from './pages.ts';
import { type IsTrusted, trustedProxies, warnOfUntrustedProxy } from './trusted-proxies.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** See `createDrain`. */
    drain(): Promise<void>;
    /** Otherwise the first request of each route compiles its schemas. */
    compileSchemas(): Promise<void>;
  }
  interface FastifyRequest {
    /** Set before the handler of any route that needs a caller. */
    principal: Principal | UserPrincipal;
    /** Set with the principal, for callers of the public API. */
    credential: Credential;
    credentialId: string | undefined;
    signedIn: SignedIn | EnteredSession | undefined;
    personId: UserId | undefined;
    /** The error of the response, for the request log. */
    sentError: AnsweredRequest['error'];
    /** Undefined if nothing is traced. `reportRequest` ends it. */
    span: RequestSpan | undefined;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** The handler asks for the body and reads it. */
    takesFile?: boolean;
  }
  interface FastifyBaseLogger {
    request(entry: AnsweredRequest): void;
  }
}

interface AppOptions
  extends OAuthOptions,
    Omit<ListenerOptions, 'limits' | 'refuse'>,
    Omit<ConsoleOptions, 'heldRequests' | 'limits' | 'report'>,
    PageOptions {
  readonly log: FastifyBaseLogger;
  /** Called for every request that is rejected before it reaches a handler. */
  readonly refused: (traceId: string, reason: string) => void;
  /** See `createDrain`. */
  readonly drainMs: number | undefined;
  /** The proxies whose `X-Forwarded-For` and `traceparent` are trusted. Both are ignored in requests from anyone else. */
  readonly trustedProxies: readonly string[];
}

/** What the surfaces call, and what the shared parts of them use. */
export type AppNeeds = ApiNeeds &
  OAuthNeeds &
  ConsoleNeeds & {
    readonly telemetry: Telemetry;
    readonly tracing: Pick<Tracing, 'request'>;
    readonly recorder: Pick<RequestRecorder, 'request'>;
    /** Rejects unless the store can be used now. */
    readonly ping: () => Promise<void>;
  };

const readyUrl = '/readyz';

/** Every HTTP surface on one server. Closing it rejects new connections and finishes requests in progress. */
export async function buildApp(needs: AppNeeds, options: AppOptions): Promise<FastifyInstance> {
  const heldRequests = new HeldRequests();
  const { limits, telemetry, tracing, recorder, now } = needs;
  const drain = createDrain(options.drainMs);
  const report = reportRequest({ log: options.log, telemetry, recorder, now });
  const isTrusted = trustedProxies(options.trustedProxies);
  const refuse = (reason: string) => {
    const response = malformed(reason);
    options.refused(response.traceId, reason);
    return response;
  };
  const { compilersFactory, compileAll } = lazyCompilers();
  // One logger for all requests: each line has its trace ID. A `childLoggerFactory` would cost something per request.
  const loggerInstance: FastifyBaseLogger = Object.create(options.log);
  loggerInstance.child = () => loggerInstance;
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createTraceId,
    bodyLimit: limits.bodyBytesMax,
    // `request.ip` is the last address in the chain that is not a trusted proxy. No other forwarded header is used.
    trustProxy: options.trustedProxies.length > 0 && isTrusted,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (handler) => createListener(handler, { tls: options.tls, limits, refuse }),
    // The listener answers these with our envelope; Fastify's own answer would be sent first.
    clientErrorHandler: () => {},
    rewriteUrl: (request) => normalizeUrl(request.url ?? '/'),
    // Kept as text: validation parses the parameters that the route knows.
    routerOptions: {
      querystringParser: (query) => query as unknown as Record<string, string>,
      maxParamLength: 16 * 1024,
    },
    schemaController: { compilersFactory },
    schemaErrorFormatter: formatFaults,
  });

  app.decorate('drain', () => drain.start());
  app.decorate('compileSchemas', compileAll);
  app.setErrorHandler(sendError);
  // Declared up front so that all request objects have one hidden class.
  const fields = ['principal', 'credential', 'credentialId', 'personId', 'signedIn', 'sentError', 'span'];
  for (const name of fields) app.decorateRequest(name);
  if (tracing.request) traceRequests(app, tracing.request, isTrusted);
  const warn = warnOfUntrustedProxy(options.log, isTrusted);
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    warn(raw);
    done();
  });
  addHooks(app, telemetry, drain, heldRequests, report);
  acceptJsonBodies(app);

  const api = apiV1(needs, heldRequests);
  await app.register(api, { prefix: apiPrefix });
  await app.register(oauth(needs, options));
  const consoleOptions = { ...options, heldRequests, limits, report };
  await app.register(consoleBackend(needs, consoleOptions), { prefix: '/console' });
  reportHealth(app, needs.ping, drain);
  publishReference(app, api);
  await servePages(app, options);
  return app;
}

function addHooks(
  app: FastifyInstance,
  telemetry: Pick<Telemetry, 'requestsInFlight'>,
  drain: Drain,
  held: HeldRequests,
  report: ReportRequest,
): void {
  app.addHook('preClose', async () => {
    drain.isClosing = true;
    app.server.closeIdleConnections();
    held.releaseAll();
  });
  app.addHook('onRequest', (request, reply, done) => {
    telemetry.requestsInFlight(1);
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    if (drain.isClosing || drain.isStarted) reply.header('connection', 'close');
    if (drain.isStarted && request.routeOptions.url !== readyUrl) drain.lastRequestMs = performance.now();
    // DELETE has no body (§4.5). A Content-Type without a body is accepted.
    if (request.method === 'DELETE') delete request.raw.headers['content-type'];
    // Others wait for only one request of an address, however many connections it has. Quotas limit API calls.
    if (request.url.startsWith(apiPrefix)) done();
    else takeTurn(callerOf(request), done);
  });
  const receiveInTurn = bodiesInTurn();
  // After each surface has checked its caller, and before a body is read.
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404 && !isPage(request)) return done(routeNotFound());
    if (request.routeOptions.config.takesFile) return done(null, payload);
    receiveInTurn(reply, () => {
      // Fastify would wait for the body forever.
      if (request.raw.destroyed && request.method !== 'GET')
        return done(invalid('The client closed the connection.'));
      if (request.headers.expect !== undefined) askForBody(reply);
      done(null, joinPieces(request.raw));
    });
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (bytesLeft(request.raw) > keptBodyBytesMax) reply.header('connection', 'close');
    reportReply(report, request, reply);
    if (reply.statusCode >= 400) reply.header('cache-control', 'no-store');
    // Quotas do not limit rejected requests, so errors wait for a turn. A file is sent at once, because an error of its
    // stream would end the process before Fastify listens for it.
    const waits = reply.statusCode >= 400 && typeof payload === 'string';
    if (waits) takeTurn(callerOf(request), () => done(null, payload));
    else done(null, payload);
  });
}

/** `/healthz`: the process is running. `/readyz`: it can serve requests, for which it needs its store. */
function reportHealth(app: FastifyInstance, ping: AppNeeds['ping'], drain: Drain): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get(readyUrl, async (request, reply) => {
    drain.isProbed = true;
    if (drain.isStarted) return reply.code(503).send({ status: 'draining' });
    try {
      await ping();
      return { status: 'ready' };
    } catch (error) {
      request.log.warn({ err: error, trace_id: request.id }, 'store is not responding');
      return reply.code(503).send({ status: 'unavailable' });
    }
  });
}

/** Node reads the rest of a body before the next request. Keeping the connection is not worth reading more than this. */
const keptBodyBytesMax = 65_536;

/** The most bytes of the body that may still arrive. */
function bytesLeft({ complete, headers }: IncomingMessage): number {
  if (complete) return 0;
  const { 'transfer-encoding': coding, 'content-length': length = 0 } = headers;
  return coding === undefined ? Number(length) : Number.POSITIVE_INFINITY;
}

/**
 * Large bodies stay in memory until their requests are answered, so only some of one caller's are received at once.
 * The others wait at the sender for their turn. With 600 bodies of 1 MiB, the process grew by 480 MB.
 */
function bodiesInTurn() {
  const slots = new FairQueue<string>(Number.POSITIVE_INFINITY, limits.largeBodiesMax.default);
  return (reply: FastifyReply, receive: () => void): void => {
    const { raw, routeOptions } = reply.request;
    if (Math.min(bytesLeft(raw), routeOptions.bodyLimit) <= keptBodyBytesMax) {
      receive();
      return;
    }
    const caller = callerOf(reply.request);
    const release = () => slots.release(caller);
    allowSlowBody(raw);
    void slots.acquire(caller).then(() => {
      restartTimeLimit(raw);
      // The peer may have disconnected in the meantime.
      if (reply.raw.destroyed) release();
      else reply.raw.once('close', release);
      receive();
    });
  };
}

const probedDrainMs = 5_000;
/** After this long without requests, the load balancer has switched to other nodes. */
const quietMs = 500;

type Drain = ReturnType<typeof createDrain>;

/**
 * The time between the stop signal and closing the listener. Meanwhile `/readyz` returns 503 and every response closes its
 * connection, but requests are still served: a proxy that checks `/readyz` switches to other nodes and loses no request.
 * Without `ms`, the drain takes 5 s if `/readyz` was ever requested; otherwise no proxy would notice, and it is skipped.
 */
function createDrain(ms: number | undefined) {
  return {
    isStarted: false,
    isClosing: false,
    isProbed: false,
    lastRequestMs: 0,
    /** Resolves when the listener may close: after the drain time, or up to twice that while requests arrive. */
    async start(): Promise<void> {
      this.isStarted = true;
      const startedMs = performance.now();
      const drainMs = ms ?? (this.isProbed ? probedDrainMs : 0);
      for (;;) {
        const elapsedMs = performance.now() - startedMs;
        const isQuiet = performance.now() - this.lastRequestMs >= quietMs;
        if (elapsedMs >= 2 * drainMs || (elapsedMs >= drainMs && isQuiet)) return;
        await pause(Math.min(50, drainMs));
      }
    },
  };
}

/** Starts a span for each request. Must be called before other hooks are added, so that they run inside the span. */
function traceRequests(
  app: FastifyInstance,
  begin: NonNullable<Tracing['request']>,
  isTrusted: IsTrusted,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.span = begin(
      request.id,
      request.method,
      request.headers,
      isTrusted(request.socket.remoteAddress),
    );
    request.span.run(done);
  });
  // A body arrives in events of the connection, which are not part of the span.
  app.addHook('preValidation', (request, _reply, done) => request.span!.run(done));
}
