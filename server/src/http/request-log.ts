import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import type { AnsweredRequest } from '../domain/traffic.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

const messageLengthMax = 500;

interface ReportedRequest extends Omit<AnsweredRequest, 'organization' | 'credential' | 'person'> {
  readonly operation: string;
  readonly principal: Principal | undefined;
  readonly credentialId: string | undefined;
  readonly personId?: string | undefined;
  readonly error?: { readonly code: ErrorCode; readonly message: string } | undefined;
}

export type ReportRequest = (request: ReportedRequest) => void;

/**
 * Counts a request, and logs it in one line without headers, query and body, so the line contains no secret. Called when
 * the response is ready: waiting until it is sent would cost every request two more listeners.
 */
export function reportRequest(
  context: SurfaceContext,
  log: Pick<FastifyBaseLogger, 'request'>,
): ReportRequest {
  const { telemetry, recorder, now } = context;
  return (request) => {
    const { traceId, method, route, operation, status, ms, principal, credentialId, error } = request;
    log.request({
      traceId,
      method,
      route,
      status,
      ms,
      organization: principal?.organizationId,
      credential: credentialId,
      person: request.personId,
    });
    telemetry.requestsInFlight(-1);
    telemetry.requestEnded(method, route, status, ms);
    // Only admitted requests of the public API have both.
    if (principal !== undefined && credentialId !== undefined) {
      if (status === 429) telemetry.quotaExceeded();
      // Without any text of the caller, so it contains no prompt and no credential. PostgreSQL cannot store NUL.
      const message = error?.message.slice(0, messageLengthMax).toWellFormed().replaceAll('\0', '\uFFFD');
      recorder.request({
        organizationId: principal.organizationId,
        at: now(),
        traceId,
        method,
        operation,
        status,
        latencyUs: Math.round(ms * 1000),
        credentialId,
        code: error?.code ?? null,
        message: message ?? null,
      });
    }
  };
}

/** The same for a request that was handled by a route, and ends its span. */
export function reportReply(report: ReportRequest, request: FastifyRequest, reply: FastifyReply): void {
  const { method, principal, credentialId, personId, sentError } = request;
  const { url: route = 'unknown', config } = request.routeOptions;
  const { operationId: operation = 'unknown' } = config;
  const { statusCode: status, elapsedTime: ms } = reply;
  const facts = { traceId: request.id, method, route, operation, status, ms };
  report({ ...facts, principal, credentialId, personId, error: sentError });
  request.span?.end(route, status, { 'skein.organization': principal?.organizationId });
}
