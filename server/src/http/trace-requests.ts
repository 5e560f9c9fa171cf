import type { FastifyInstance } from 'fastify';
import type { RequestSpan, Tracing } from '../usecases/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span?: RequestSpan;
  }
}

/** Records each request as a span. Must be called before other hooks are added, so that they run inside the span. */
export function traceRequests(app: FastifyInstance, begin: NonNullable<Tracing['request']>): void {
  app.decorateRequest('span');
  app.addHook('onRequest', (request, _reply, done) => {
    request.span = begin(request.id, request.method, request.headers);
    request.span.run(done);
  });
  // A body arrives in events of the connection, which are not part of the span.
  app.addHook('preValidation', (request, _reply, done) => request.span!.run(done));
  app.addHook('onSend', (request, reply, payload, done) => {
    const attributes = { 'skein.organization': request.principal?.organizationId };
    request.span?.end(request.routeOptions.url ?? 'unknown', reply.statusCode, attributes);
    done(null, payload);
  });
}
