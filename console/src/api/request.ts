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

/** `path` is under `/console`. Rejects with an `ApiError`. */
export async function request<Answer>(
  method: Method,
  path: string,
  {
    body,
    headers = {},
    signal,
  }: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const answer = await send(`/console${path}`, {
    method,
    ...(signal && { signal }),
    headers: {
      ...(method !== 'GET' && { 'x-skein-csrf': csrfToken }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const json = await answer.json().catch(() => undefined);
  if (answer.ok) return json as Answer;
  throw toApiError(answer.status, json, answer.headers.get('retry-after'));
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

/** Sends a file and reports progress (0 to 1), which fetch cannot do. */
export function upload<Answer>(
  path: string,
  file: File,
  onProgress: (part: number) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open('POST', `/console${path}`);
    sending.setRequestHeader('x-skein-csrf', csrfToken);
    sending.setRequestHeader('content-type', 'application/octet-stream');
    sending.responseType = 'json';
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    sending.onload = () => {
      if (sending.status < 300) resolve(sending.response as Answer);
      else reject(toApiError(sending.status, sending.response));
    };
    sending.onerror = () => reject(unreachable());
    sending.send(file);
  });
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw unreachable();
  }
}

function unreachable(): ApiError {
  return new ApiError(
    'UNREACHABLE',
    'The service cannot be reached. Check the connection and try again.',
    0,
    null,
  );
}

function toApiError(status: number, json: unknown, retryAfter: string | null = null): ApiError {
  const error = (json as { error?: { code: string; message: string; trace_id: string } } | undefined)?.error;
  if (error === undefined)
    return new ApiError('INTERNAL_ERROR', 'Something went wrong. Please try again.', status, null);
  const seconds = retryAfter === null ? null : Number.parseInt(retryAfter, 10);
  return new ApiError(error.code, error.message, status, error.trace_id, seconds);
}
