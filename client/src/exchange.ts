import { ConnectionError, TimeoutError } from './errors.ts';
import { type BufferedResponse, readResponse } from './response.ts';
import { withTimeLimit } from './time-limits.ts';

/** The part of `fetch` that this client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body?: string | undefined;
  /** The time limit of one attempt. */
  readonly timeoutMs: number;
}

/** True in pages and in their workers. */
const inBrowser = 'document' in globalThis || 'importScripts' in globalThis;

/** Sends one request and reads the whole response. Rejects only if the signal is aborted. */
export async function exchange(
  fetch: Fetch,
  { method, url, headers, body, timeoutMs }: Outgoing,
  signal: AbortSignal,
): Promise<BufferedResponse | ConnectionError> {
  const request = describeRequest(method, url);
  try {
    return await withTimeLimit({ signal, timeoutMs }, request, async (limited) =>
      readResponse(
        await fetch(url, {
          method,
          headers,
          ...(body !== undefined && { body }),
          // A redirect would send the secret to another URL.
          redirect: 'manual',
          ...(inBrowser && { credentials: 'omit' as const }),
          signal: limited,
        }),
      ),
    );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const reason = error instanceof TimeoutError ? `timed out after ${timeoutMs} ms` : describeFailure(error);
    return new ConnectionError(`${request} got no response: ${reason}.`, {
      code: 'CONNECTION',
      cause: error,
    });
  }
}

/** The request as it appears in errors, without its query, which may contain personal data. */
export function describeRequest(method: string, url: string): string {
  return `${method} ${url.split('?')[0]}`;
}

/** Finds the innermost cause, because `fetch failed` alone does not help. */
function describeFailure(error: unknown): string {
  const { cause, code, message } = (error ?? {}) as { cause?: unknown; code?: unknown; message?: unknown };
  if (cause instanceof Error && cause !== error) return describeFailure(cause);
  const known = [code, message].filter((part) => typeof part === 'string' && part !== '');
  return known.length === 0 ? String(error) : known.join(', ').replace(/\.$/, '');
}

/** Browsers set their own User-Agent. */
export function baseHeaders(userAgent: string | undefined): Headers {
  const headers = new Headers({ accept: 'application/json' });
  if (userAgent !== undefined && !inBrowser) headers.set('user-agent', userAgent);
  return headers;
}
