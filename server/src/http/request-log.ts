import type { FastifyReply, FastifyRequest } from 'fastify';

/** One line per request: who, what, how long. No header, no query and no body, so nothing in it is secret. */
export async function logRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
}
