import type { FastifyReply } from 'fastify';

/** The codes of RFC 6749 §5.2 that this endpoint uses, and one for 429, for which OAuth defines none. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable';

const statusOf = {
  invalid_request: 400,
  invalid_client: 401,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  temporarily_unavailable: 429,
} as const satisfies Record<OAuthErrorCode, number>;

/** An error in the OAuth format. The description is for developers, and never repeats what was sent. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: OAuthErrorCode, description: string, retryAfterSeconds?: number) {
    super(description);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function sendOAuthError(
  reply: FastifyReply,
  { code, message, retryAfterSeconds }: OAuthError,
): FastifyReply {
  // Required with every 401 by RFC 9110 §15.5.2, and after a failed Authorization header by RFC 6749 §5.2.
  if (statusOf[code] === 401) reply.header('www-authenticate', 'Basic realm="skein", charset="UTF-8"');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  return reply
    .code(statusOf[code])
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ error: code, error_description: message }));
}
