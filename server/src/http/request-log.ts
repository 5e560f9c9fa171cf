import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SurfaceContext } from '../usecases/surface-context.ts';

const messageLengthMax = 500;

/**
 * Ends the span of a request, counts the request, and logs it in one line without headers, query and body, so the line
 * contains no secret. Called when the response is ready: waiting until it is sent would cost every request two more
 * listeners.
 */
export function reportRequest({ telemetry, usage, recorder, now }: SurfaceContext) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const { method, principal, credentialId, sentError } = request;
    const { url: route = 'unknown', config } = request.routeOptions;
    const { statusCode, elapsedTime } = reply;
    request.log.request({
      traceId: request.id,
      method,
      route,
      status: statusCode,
      ms: elapsedTime,
      organization: principal?.organizationId,
      credential: credentialId,
      person: request.personId,
    });
    telemetry.requestEnded(method, route, statusCode, elapsedTime);
    request.span?.end(route, statusCode, { 'skein.organization': principal?.organizationId });
    // Only admitted requests of the public API have both.
    if (principal !== undefined && credentialId !== undefined) {
      if (statusCode === 429) telemetry.quotaExceeded();
      const { organizationId } = principal;
      const { operationId: operation = 'unknown' } = config;
      const at = now();
      const code = sentError?.code ?? null;
      // Without any text of the caller, so it contains no prompt and no credential. PostgreSQL cannot store NUL.
      const message = sentError?.message.slice(0, messageLengthMax).toWellFormed().replaceAll('\0', '\uFFFD');
      usage.count({ organizationId, credentialId, operation, outcome: code ?? 'OK', at });
      recorder.request({
        organizationId,
        at,
        traceId: request.id,
        method,
        operation,
        status: statusCode,
        latencyUs: Math.round(elapsedTime * 1000),
        credentialId,
        code,
        message: message ?? null,
      });
    }
  };
}
