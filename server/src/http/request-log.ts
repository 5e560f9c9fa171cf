import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorCodes } from '../domain/errors.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';
import { errorStatus } from './error-response.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** As the OpenAPI document names it. */
    operationId?: string;
  }
}

const codeOf = new Map<number, ErrorCode>(errorCodes.map((code) => [errorStatus[code], code]));

/**
 * Tells of each request when its answer is ready: one line in the log, and a count. The line says who, what and how long,
 * with no header, no query and no body, so nothing in it is secret. (Waiting for the answer to be sent would cost every
 * request two more listeners.)
 */
export function reportRequest({
  telemetry,
  usage,
  now,
}: Pick<SurfaceContext, 'telemetry' | 'usage' | 'now'>) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void => {
    const { method, principal, credentialId } = request;
    const { url: route = 'unknown', config } = request.routeOptions;
    const { statusCode, elapsedTime } = reply;
    request.log.info(
      {
        trace_id: request.id,
        method,
        route,
        status: statusCode,
        ms: Math.round(elapsedTime * 100) / 100,
        organization: principal?.organizationId,
        credential: credentialId,
        person: request.personId,
      },
      'request',
    );
    telemetry.requestEnded(method, route, statusCode, elapsedTime);
    // Only behind the door of the public interface a request has both, and only once it was admitted.
    if (principal !== undefined && credentialId !== undefined) {
      if (statusCode === 429) telemetry.quotaExceeded();
      usage.count({
        organizationId: principal.organizationId,
        credentialId,
        operation: config.operationId ?? 'unknown',
        outcome: codeOf.get(statusCode) ?? 'OK',
        at: now(),
      });
    }
    done(null, payload);
  };
}
