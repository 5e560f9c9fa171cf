import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { counted } from '../../../runtime/src/pure/text.ts';
import { type ErrorCode, invalid, notFound, ServiceError } from '../domain/errors.ts';
import { jsonTypeFault } from './json-body.ts';
import { createTraceId } from './request.ts';

export const errorStatus = {
  INVALID_PARAMS: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
} as const satisfies Record<ErrorCode, number>;

export function errorBody(code: ErrorCode, message: string, traceId: string): string {
  return JSON.stringify({ error: { code, message, trace_id: traceId } });
}

/** The response to a request that is malformed, so that it reaches no handler. */
export function malformed(reason: string): { traceId: string; body: string } {
  const traceId = createTraceId();
  return { traceId, body: errorBody('INVALID_PARAMS', reason, traceId) };
}

/** The error for a URL without a route. */
export function routeNotFound(): ServiceError {
  return notFound('No such endpoint. Check the path and the method.');
}

/** The error handler of every surface (§7). A session cookie is not an authentication scheme to name in a challenge. */
export async function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  challenges = true,
): Promise<FastifyReply> {
  const known = toServiceError(error as FastifyError, request.routeOptions.bodyLimit);
  if (known === undefined) request.log.error({ err: error, trace_id: request.id }, 'unexpected error');
  const unexpected = `Something went wrong on our end. Try again. If the error persists, report trace ID ${request.id}.`;
  const { code, message, logMessage, retryAfterSeconds } =
    known ?? new ServiceError('INTERNAL_ERROR', unexpected);
  request.sentError = { code, message: logMessage };
  if (code === 'UNAUTHORIZED' && challenges) reply.header('www-authenticate', challengeFor(request));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  return reply
    .code(errorStatus[code])
    .header('content-type', 'application/json; charset=utf-8')
    .send(errorBody(code, message, request.id));
}

/** Names an error only to a caller who sent a bearer credential (RFC 6750 §3.1). */
function challengeFor({ headers: { authorization } }: FastifyRequest): string {
  const realm = 'Bearer realm="skein"';
  return /^bearer\b/i.test(authorization ?? '') ? `${realm}, error="invalid_token"` : realm;
}

/** Client errors of the framework. INVALID_PARAMS is the only code that fits them. */
function toServiceError(error: FastifyError, bodyLimit: number | undefined): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return invalid(`Request body must be at most ${counted(bodyLimit!, 'byte')}.`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalid(jsonTypeFault);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('Request body does not match Content-Length.');
    default:
      if (typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500) {
        return invalid('Malformed request.', { cause: error });
      }
      return undefined;
  }
}
