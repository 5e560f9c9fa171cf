import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * One line per request, when its answer is ready: who, what, how long. No header, no query and no body, so nothing in it
 * is secret. (Waiting for the answer to be sent would cost every request two more listeners.)
 */
export function logRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  request.log.info(
    {
      trace_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      organization: request.principal?.organizationId,
      credential: request.credentialId,
    },
    'request',
  );
  done(null, payload);
}
