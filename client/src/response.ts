import {
  ForbiddenError,
  InternalError,
  InvalidParamsError,
  NotFoundError,
  RateLimitedError,
  SkeinError,
  UnauthorizedError,
  UnexpectedResponseError,
} from './errors.ts';

/** A response that was read to its end, or to `bodyBytesMax`. */
export interface BufferedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed text; undefined if it is not JSON or too long. */
  readonly body: unknown;
  readonly text: string;
}

const errorClasses = new Map<unknown, typeof SkeinError>([
  ['INVALID_PARAMS', InvalidParamsError],
  ['UNAUTHORIZED', UnauthorizedError],
  ['FORBIDDEN', ForbiddenError],
  ['NOT_FOUND', NotFoundError],
  ['INTERNAL_ERROR', InternalError],
]);

/** Twice what the largest thread takes. A response that never ends would fill the memory until the timeout. */
const bodyBytesMax = 128 * 1024 * 1024;

export async function readResponse(response: Response): Promise<BufferedResponse> {
  const { text, isWhole } = await readText(response);
  // The part that was read may itself be valid JSON, for example if endless blanks follow a page.
  const body = isWhole ? parse(text) : undefined;
  return { status: response.status, headers: response.headers, body, text };
}

/** The text of a response, cut off after `bodyBytesMax`. */
async function readText(response: Response): Promise<{ text: string; isWhole: boolean }> {
  // Some implementations of `fetch` have no streams, or streams of Node.js.
  const reader = response.body?.getReader?.();
  if (reader === undefined) return { text: await response.text(), isWhole: true };
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  while (bytes <= bodyBytesMax) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), isWhole: true };
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  reader.cancel().catch(() => {});
  return { text, isWhole: false };
}

/** The error that a response reports, with the service's message if it has one. */
export function failureIn(response: BufferedResponse, request: string): SkeinError {
  const { status, headers, body } = response;
  const error = asObject(asObject(body)?.error);
  const code = error?.code;
  const traceId = asText(error?.trace_id) ?? headers.get('x-request-id') ?? undefined;
  if (typeof code !== 'string') return failureOfProxy(response, request, traceId);
  const message = asText(error?.message) ?? `${request} failed with ${code}.`;
  if (code === 'RATE_LIMITED') {
    return new RateLimitedError(message, { code, status, traceId, retryAfterSeconds: retryAfter(headers) });
  }
  return new (errorClasses.get(code) ?? SkeinError)(message, { code, status, traceId });
}

/** For responses that did not come from the service. The message shows the first words, which often name the sender. */
export function unexpected(response: BufferedResponse, request: string): UnexpectedResponseError {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? 'no content type';
  const message = `${request} got a response that is not from Skein: ${status} (${type})`;
  return new UnexpectedResponseError(`${message}${beginning(response)}`, {
    code: 'UNEXPECTED_RESPONSE',
    status,
    traceId: headers.get('x-request-id') ?? undefined,
  });
}

/** `Retry-After` in seconds, given as seconds or as a date (RFC 9110 §10.2.3). */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  // Date.parse also accepts strings such as "-5" and "1.5".
  const date = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** Maps only statuses that are certain: a proxy's 404 does not mean that a thread is missing. */
function failureOfProxy(
  response: BufferedResponse,
  request: string,
  traceId: string | undefined,
): SkeinError {
  const { status, headers } = response;
  const message = `${request} failed with ${status}${beginning(response)}`;
  if (status === 429) {
    const retryAfterSeconds = retryAfter(headers);
    return new RateLimitedError(message, { code: 'RATE_LIMITED', status, traceId, retryAfterSeconds });
  }
  if (status >= 500) return new InternalError(message, { code: 'INTERNAL_ERROR', status, traceId });
  // Browsers report a redirect as status 0 and hide its target.
  if (status === 0 || (status >= 300 && status < 400)) {
    const location = headers.get('location') ?? 'another URL';
    const redirected = `${request} was redirected to ${location}. Credentials are not sent there: set baseUrl to that URL.`;
    return new UnexpectedResponseError(redirected, { code: 'UNEXPECTED_RESPONSE', status, traceId });
  }
  return unexpected(response, request);
}

function beginning({ text }: BufferedResponse): string {
  // Only the beginning, because the text can be 128 MiB long.
  const words = text.slice(0, 1000).replaceAll(/\s+/g, ' ').trim();
  if (words === '') return '.';
  return `: ${words.length > 200 ? `${words.slice(0, 200)}…` : words}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Checks the fields of a thread that callers are most likely to use. */
export function isThread(thread: Readonly<Record<string, unknown>>): boolean {
  const { id, title, createdAt, updatedAt, accountId } = thread;
  return [id, title, createdAt, updatedAt ?? '', accountId ?? ''].every((value) => typeof value === 'string');
}

/** Whether it is an array of objects that all pass the check. */
export function isListOf(value: unknown, check: (item: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => check(asObject(item) ?? {}));
}
