import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AccessTokens, accessTokenScope, accessTokenSeconds } from '../../domain/credential.ts';
import { limits } from '../../domain/limits.ts';
import type { Telemetry } from '../../domain/telemetry.ts';
import type { IssueAccessToken } from '../../usecases/credentials/applications.ts';
import { sendError } from '../error-response.ts';
import { decode } from '../request.ts';

export interface OAuthOptions {
  /** The public URL of this surface, and the issuer of access tokens. */
  readonly authUrl: () => string;
  /** The path of that URL; empty if it has none. */
  readonly authPath: string;
}

export interface OAuthNeeds {
  readonly issueAccessToken: IssueAccessToken;
  readonly accessTokens: Pick<AccessTokens, 'keySet'>;
  readonly telemetry: Pick<Telemetry, 'tokenRequested'>;
}

const keySetMaxAgeSeconds = 300;

/** Applications exchange their credentials for access tokens: RFC 6749 §4.4, RFC 8414, RFC 7517. */
export function oauth(needs: OAuthNeeds, { authUrl, authPath }: OAuthOptions) {
  return async (app: FastifyInstance): Promise<void> => {
    // Bodies stay raw, so that errors in a form are reported as OAuth errors.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
      if (error instanceof OAuthError) return sendOAuthError(reply, error);
      const { statusCode = 500 } = error;
      if (statusCode < 400 || statusCode >= 500) return sendError(error, request, reply);
      return sendOAuthError(reply, new OAuthError('invalid_request', 'Malformed request.'));
    });

    const tokenOptions = {
      bodyLimit: limits.openBodyBytesMax.default,
      // First, so that errors of the token endpoint are not cached either (RFC 6749 §5.1).
      onRequest: async (_request: FastifyRequest, reply: FastifyReply) => {
        reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
      },
    };
    const token = async (request: FastifyRequest) => ({
      access_token: await exchange(needs, request),
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      scope: accessTokenScope,
    });
    const keySet = async (_request: FastifyRequest, reply: FastifyReply) => {
      const keys = await needs.accessTokens.keySet();
      return reply
        .header('content-type', 'application/jwk-set+json')
        .header('cache-control', `public, max-age=${keySetMaxAgeSeconds}`)
        .send(JSON.stringify(keys));
    };
    // Both with the issuer's path and without it, for proxies that strip it. The metadata of an issuer with a path is
    // below the well-known URL (RFC 8414 §3.1).
    for (const path of new Set(['', authPath])) {
      app.post(`${path}/oauth2/token`, tokenOptions, token);
      app.get(`${path}/.well-known/jwks.json`, keySet);
      app.get(`${metadataPath}${path}`, async () => authorizationServerMetadata(authUrl()));
    }
  };
}

async function exchange(
  { issueAccessToken, telemetry }: OAuthNeeds,
  request: FastifyRequest,
): Promise<string> {
  const form = readForm(request.headers['content-type'], request.body as Buffer | undefined);
  const grantType = form.get('grant_type');
  if (grantType === undefined) throw new OAuthError('invalid_request', 'Missing grant_type.');
  const client = readClient(request.headers.authorization, form);
  if (grantType !== 'client_credentials') {
    throw new OAuthError('unsupported_grant_type', 'grant_type must be client_credentials.');
  }
  const result = await issueAccessToken({ ...client, address: request.ip });
  telemetry.tokenRequested(result.outcome);
  switch (result.outcome) {
    case 'issued':
      request.credentialId = result.applicationId;
      return result.accessToken;
    case 'invalid-client':
      throw new OAuthError('invalid_client', 'Unknown client or wrong client secret.');
    case 'unauthorized-client':
      throw new OAuthError('unauthorized_client', 'The public API is not enabled for this organization.');
    case 'throttled':
      throw new OAuthError(
        'temporarily_unavailable',
        'Too many failed attempts for this client from this address.',
        result.retryAfterSeconds,
      );
  }
}

const metadataPath = '/.well-known/oauth-authorization-server';

/** The authorization server metadata (RFC 8414 §2). */
function authorizationServerMetadata(issuer: string): object {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    // There is no authorization endpoint, so no response type. The field is required.
    response_types_supported: [],
    scopes_supported: [accessTokenScope],
  };
}

/** The parameters of a form (RFC 6749 §3.2). Each may occur once; one without a value is treated as missing. */
export function readForm(contentType: string | undefined, body: Buffer | undefined): Map<string, string> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '')) {
    throw new OAuthError('invalid_request', 'Content-Type must be application/x-www-form-urlencoded.');
  }
  if (body !== undefined && !isUtf8(body))
    throw new OAuthError('invalid_request', 'Request body is not valid UTF-8.');
  const parameters = [...new URLSearchParams(body?.toString() ?? '')];
  if (new Map(parameters).size < parameters.length) {
    throw new OAuthError('invalid_request', 'Duplicate parameter.');
  }
  return new Map(parameters.filter(([, value]) => value !== ''));
}

/** The client's credentials, from HTTP Basic or from the body, but not both (RFC 6749 §2.3.1). */
export function readClient(authorization: string | undefined, form: ReadonlyMap<string, string>) {
  const clientId = form.get('client_id');
  const clientSecret = form.get('client_secret');
  if (authorization === undefined) {
    if (clientId === undefined || clientSecret === undefined) {
      throw new OAuthError('invalid_client', 'Send client_id and client_secret.');
    }
    return { clientId, clientSecret };
  }
  const client = readBasic(authorization);
  if (client === undefined) {
    throw new OAuthError('invalid_client', 'Authorization must be Basic, with the client ID and secret.');
  }
  if (clientSecret !== undefined) {
    throw new OAuthError(
      'invalid_request',
      'Send client credentials in either the Authorization header or the body, not both.',
    );
  }
  if (clientId !== undefined && clientId !== client.clientId) {
    throw new OAuthError('invalid_request', 'client_id does not match the Authorization header.');
  }
  return client;
}

/** Id and secret are form-encoded before they are joined, so a colon in them does not separate them. */
function readBasic(authorization: string) {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1] ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(':');
  if (colon === -1 || !isUtf8(bytes)) return undefined;
  const clientId = decode(bytes.subarray(0, colon).toString());
  const clientSecret = decode(bytes.subarray(colon + 1).toString());
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
}

/** The codes of RFC 6749 §5.2 that this endpoint uses, and one for 429, for which OAuth defines none. */
const statusOf = {
  invalid_request: 400,
  invalid_client: 401,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  temporarily_unavailable: 429,
} as const;

export type OAuthErrorCode = keyof typeof statusOf;

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

function sendOAuthError(reply: FastifyReply, { code, message, retryAfterSeconds }: OAuthError): FastifyReply {
  // Required with every 401 by RFC 9110 §15.5.2, and after a failed Authorization header by RFC 6749 §5.2.
  if (statusOf[code] === 401) reply.header('www-authenticate', 'Basic realm="skein", charset="UTF-8"');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  return reply.code(statusOf[code]).send({ error: code, error_description: message });
}
