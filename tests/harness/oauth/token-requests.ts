import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { IssuedApplication } from '../world/applications.ts';

export interface TokenRequest {
  readonly method?: string;
  readonly path?: string;
  /** Sent in this order. A name can appear twice. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  readonly chunked?: boolean;
  /** The loopback address that the request comes from. By default, a new one. */
  readonly from?: string;
}

export interface TokenResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** Undefined if there is no body. */
  readonly json: any;
}

export const formType = ['content-type', 'application/x-www-form-urlencoded'] as const;
export const grant = 'grant_type=client_credentials';

let addresses = 0;

/** An address that has sent nothing yet, because failures are counted by address. */
export function newAddress(): string {
  addresses += 1;
  return `127.0.${1 + Math.floor(addresses / 250)}.${1 + (addresses % 250)}`;
}

export async function sendTokenRequest(baseUrl: string, sent: TokenRequest): Promise<TokenResponse> {
  const { method = 'POST', path = '/oauth2/token', headers = [], body, chunked = false } = sent;
  const { host, hostname, port } = new URL(baseUrl);
  const bytes = body === undefined ? undefined : Buffer.from(body as string);
  const framing = chunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(bytes?.length ?? 0)];
  const all = ['host', host, 'connection', 'close', ...framing, ...headers.flat()];
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: hostname,
        port,
        method,
        path,
        headers: all,
        localAddress: sent.from ?? newAddress(),
        agent: false,
      },
      async (incoming) => {
        const text = (await incoming.setEncoding('utf8').toArray()).join('');
        const fields = Object.entries(incoming.headers).map(
          ([name, value]) => [name, String(value)] as const,
        );
        const json = text === '' ? undefined : JSON.parse(text);
        resolve({ status: incoming.statusCode as number, headers: new Map(fields), text, json });
      },
    );
    outgoing.on('error', reject);
    // Sent in two chunks, so that the encoding matters.
    const middle = chunked && bytes ? Math.floor(bytes.length / 2) : 0;
    if (bytes && middle > 0) outgoing.write(bytes.subarray(0, middle));
    outgoing.end(bytes?.subarray(middle));
  });
}

/** The request of §5.4, with additional form fields. */
export function byBody(
  application: Partial<IssuedApplication>,
  more: Record<string, string> = {},
): TokenRequest {
  const { clientId, clientSecret } = application;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(clientId !== undefined && { client_id: clientId }),
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...more,
  });
  return { headers: [formType], body: form.toString() };
}

/** The request of §5.4 with HTTP Basic: both halves form-encoded, then joined (RFC 6749 §2.3.1). */
export function byBasic({ clientId, clientSecret }: IssuedApplication, body = grant): TokenRequest {
  const encoded = [clientId, clientSecret].map(encodeURIComponent).join(':');
  return byAuthorization(`Basic ${base64(encoded)}`, body);
}

export function byAuthorization(authorization: string, body = grant): TokenRequest {
  return { headers: [formType, ['authorization', authorization]], body };
}

export function form(body: string | Uint8Array): TokenRequest {
  return { headers: [formType], body };
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Checks what every response of the token endpoint has in common (RFC 6749 §5.1, §5.2). */
function assertForm({ headers }: TokenResponse): void {
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('pragma'), 'no-cache');
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('ratelimit'), undefined, 'the token endpoint counts against no quota');
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
}

/** Fails unless a token was issued. Returns the token. */
export function assertIssued(answer: TokenResponse, what = ''): string {
  assert.equal(answer.status, 200, `${what}: ${answer.text}`);
  assertForm(answer);
  assert.equal(answer.headers.get('www-authenticate'), undefined);
  const { access_token, ...rest } = answer.json;
  assert.match(access_token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3600, scope: 'threads:read' });
  return access_token;
}

const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  temporarily_unavailable: 429,
} as const;
export type OAuthErrorName = keyof typeof statuses;

/** Fails unless the response is this error in the form of RFC 6749 §5.2 and contains none of `secrets`. */
export function assertRefused(
  answer: TokenResponse,
  error: OAuthErrorName,
  what: string,
  secrets: readonly string[] = [],
): void {
  const found = `${what}: ${answer.status} ${answer.text}`;
  assert.equal(answer.json?.error, error, found);
  assert.equal(answer.status, statuses[error], found);
  assertForm(answer);
  assert.deepEqual(Object.keys(answer.json), ['error', 'error_description'], found);
  // §5.2: no quotation marks, no backslash, nothing beyond ASCII.
  assert.match(answer.json.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, found);
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status === 401) assert.match(challenge ?? '', /^Basic realm="[^"]+"/, found);
  else assert.equal(challenge, undefined, found);
  const shown = [answer.text, ...answer.headers.values()].join('\n');
  for (const secret of secrets) assert.ok(!shown.includes(secret), `${what}: the answer repeats ${secret}`);
}
