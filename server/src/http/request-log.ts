import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Telemetry } from '../usecases/telemetry.ts';

/**
 * Tells of each request when its answer is ready: one line in the log, and a count. The line says who, what and how long,
 * with no header, no query and no body, so nothing in it is secret. (Waiting for the answer to be sent would cost every
 * request two more listeners.)
 */
export function reportRequest(telemetry: Telemetry) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void => {
    const { method, principal } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const { statusCode, elapsedTime } = reply;
    request.log.info(
      {
        trace_id: request.id,
        method,
        route,
        status: statusCode,
        ms: Math.round(elapsedTime * 100) / 100,
        organization: principal?.organizationId,
        credential: request.credentialId,
      },
      'request',
    );
    telemetry.requestEnded(method, route, statusCode, elapsedTime);
    // Behind the door of the public interface nothing else is answered so.
    if (statusCode === 429 && principal !== undefined) telemetry.quotaExceeded();
    done(null, payload);
  };
}
