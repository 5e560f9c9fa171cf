import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { countHeader } from '../headers.ts';

interface ClientIdentity {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The parameters of a form (RFC 6749 §3.2). Each may occur once; one without a value is treated as missing. */
export function readForm(contentType: string | undefined, body: Buffer | undefined): Map<string, string> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '')) {
    throw new OAuthError('invalid_request', 'Content-Type must be application/x-www-form-urlencoded.');
  }
  if (body !== undefined && !isUtf8(body)) throw new OAuthError('invalid_request', 'The body must be UTF-8.');
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(body?.toString() ?? '')) {
    if (seen.has(name)) throw new OAuthError('invalid_request', 'A parameter was sent more than once.');
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** The client's credentials, from HTTP Basic or from the body, but not both (RFC 6749 §2.3.1). */
export function readClient(request: IncomingMessage, form: ReadonlyMap<string, string>): ClientIdentity {
  const inBody = { clientId: form.get('client_id'), clientSecret: form.get('client_secret') };
  if (request.headers.authorization === undefined) {
    const { clientId, clientSecret } = inBody;
    if (clientId === undefined || clientSecret === undefined) {
      throw new OAuthError('invalid_client', 'Send client_id and client_secret.');
    }
    return { clientId, clientSecret };
  }
  const client = readBasic(request);
  if (inBody.clientSecret !== undefined) {
    throw new OAuthError('invalid_request', 'Authenticate by one method: Authorization, or client_secret.');
  }
  if (inBody.clientId !== undefined && inBody.clientId !== client.clientId) {
    throw new OAuthError('invalid_request', 'client_id differs from the one in Authorization.');
  }
  return client;
}

/** Id and secret are form-encoded before they are joined, so a colon in them does not separate them. */
function readBasic(request: IncomingMessage): ClientIdentity {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined || countHeader(request, 'authorization') > 1) throw unreadable();
  const bytes = Buffer.from(encoded, 'base64');
  const joint = bytes.indexOf(':');
  if (joint === -1 || !isUtf8(bytes)) throw unreadable();
  return {
    clientId: formDecoded(bytes.subarray(0, joint).toString()),
    clientSecret: formDecoded(bytes.subarray(joint + 1).toString()),
  };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw unreadable();
  }
}

function unreadable(): OAuthError {
  return new OAuthError('invalid_client', 'Authorization must be Basic, with client id and secret.');
}

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
