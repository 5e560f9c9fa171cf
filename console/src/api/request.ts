/** An error response, or (`UNREACHABLE`) a service that could not be reached. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  /** For support; null if there was no response. */
  readonly traceId: string | null;
  /** How long to wait before the next try, from Retry-After. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: string,
    message: string,
    status: number,
    traceId: string | null,
    retryAfterSeconds: number | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.traceId = traceId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Sent with every change, as proof that this page sent it. Updated from every session that is read. */
let csrfToken = 'none';

export function keepCsrfToken(token: string): void {
  csrfToken = token;
}

export function csrfHeader(): { 'x-skein-csrf': string } {
  return { 'x-skein-csrf': csrfToken };
}

/** Requests take less than this unless the service hangs. */
const timeoutMs = 60_000;

interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** The last change, while it is being sent. */
let last: { readonly change: string; readonly sent: Promise<unknown> } | undefined;

/**
 * `path` is under `/console`. Rejects with an `ApiError`. While the last change is being sent, it is not sent again: the
 * second click of two can come before the button is disabled, and gets the response to the first.
 */
export function request<Result>(method: Method, path: string, options: RequestOptions = {}): Promise<Result> {
  if (method === 'GET' || options.signal) return requestJson(method, path, options);
  const change = `${method} ${path} ${JSON.stringify(options.body)}`;
  if (last?.change === change) return last.sent as Promise<Result>;
  const sent = requestJson<Result>(method, path, options).finally(() => {
    if (last?.sent === sent) last = undefined;
  });
  last = { change, sent };
  return sent;
}

async function requestJson<Result>(
  method: Method,
  path: string,
  { body, headers = {}, signal }: RequestOptions,
): Promise<Result> {
  const { response, json } = await send(signal, `/console${path}`, {
    method,
    headers: {
      ...(method !== 'GET' && csrfHeader()),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Every success has JSON. Without it, a proxy has cut or replaced the response.
  if (response.ok && json === undefined) throw unreachable();
  if (response.ok) return json as Result;
  throw toApiError(response.status, json, response.headers.get('retry-after'));
}

/** The path of an organization's resource, under `/console`. */
export function inOrganization(organizationId: string, path: string): string {
  return `/organizations/${encodeURIComponent(organizationId)}${path}`;
}

/** `?a=1&b=2`, without undefined and empty values. */
export function query(parameters: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** `json` is undefined if the response has none. */
async function send(
  signal: AbortSignal | undefined,
  url: string,
  init: RequestInit,
): Promise<{ response: Response; json: unknown }> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    const either = AbortSignal.any(signal ? [signal, limit.signal] : [limit.signal]);
    const response = await fetch(url, { ...init, signal: either });
    const text = await response.text();
    return { response, json: parseJson(text) };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  } finally {
    clearTimeout(timer);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function unreachable(): ApiError {
  return new ApiError(
    'UNREACHABLE',
    'Can’t reach the service. Check your connection and try again.',
    0,
    null,
  );
}

export function toApiError(status: number, json: unknown, retryAfter: string | null = null): ApiError {
  const error = (json as { error?: { code: string; message: string; trace_id: string } } | undefined)?.error;
  // A proxy has errors of its own.
  if (typeof error?.message !== 'string')
    return new ApiError('INTERNAL_ERROR', 'Something went wrong. Please try again.', status, null);
  const seconds = retryAfter === null ? null : Number.parseInt(retryAfter, 10);
  return new ApiError(error.code, error.message, status, error.trace_id, seconds);
}
