import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Telemetry } from '../domain/telemetry.ts';
import type { AnsweredRequest } from '../domain/traffic.ts';
import type { RequestRecorder } from '../usecases/organization/request-recorder.ts';

const messageLengthMax = 500;

interface RequestLogNeeds {
  readonly log: Pick<FastifyBaseLogger, 'request'>;
  readonly telemetry: Pick<Telemetry, 'requestsInFlight' | 'requestEnded' | 'quotaExceeded'>;
  readonly recorder: Pick<RequestRecorder, 'request'>;
  readonly now: () => number;
}

export type ReportRequest = (request: AnsweredRequest) => void;

/**
 * Counts a request, and logs it in one line without headers, query and body, so the line contains no secret. Called when
 * the response is ready: waiting until it is sent would cost every request two more listeners.
 */
export function reportRequest({ log, telemetry, recorder, now }: RequestLogNeeds): ReportRequest {
  return (request) => {
    const { traceId, method, route, operation, status, ms, organizationId, credentialId, error } = request;
    log.request(request);
    telemetry.requestsInFlight(-1);
    telemetry.requestEnded(method, route, status, ms);
    // Only admitted requests of the public API have both.
    if (organizationId === undefined || credentialId === undefined) return;
    if (status === 429) telemetry.quotaExceeded();
    // Without any text of the caller, so it contains no prompt and no credential. PostgreSQL cannot store NUL.
    const message = error?.message.slice(0, messageLengthMax).toWellFormed().replaceAll('\0', '\uFFFD');
    recorder.request({
      organizationId,
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
  };
}

/** The same for a request that was handled by a route, and ends its span. */
export function reportReply(report: ReportRequest, request: FastifyRequest, reply: FastifyReply): void {
  const { method, principal, credentialId, personId, sentError: error } = request;
  const organizationId = principal?.organizationId;
  const { url: route = 'unknown', config } = request.routeOptions;
  const { operationId: operation = 'unknown' } = config;
  const { statusCode: status, elapsedTime: ms } = reply;
  const facts = { traceId: request.id, method, route, operation, status, ms };
  report({ ...facts, organizationId, credentialId, personId, error });
  request.span?.end(route, status, { 'skein.organization': organizationId });
}
