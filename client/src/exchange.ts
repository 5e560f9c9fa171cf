import { type Answer, readAnswer } from './answer.ts';
import { ConnectionError, TimeoutError } from './errors.ts';
import { within } from './patience.ts';

/** What this client needs of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body?: string | undefined;
  /** How long one try may take before it counts as lost. */
  readonly timeoutMs: number;
}

/** Pages, and the workers of pages. */
const inBrowser = 'document' in globalThis || 'importScripts' in globalThis;

/** One request and its whole answer, or that there was none. Rejects only when the signal has ended it. */
export async function exchange(
  fetch: Fetch,
  { method, url, headers, body, timeoutMs }: Outgoing,
  signal: AbortSignal,
): Promise<Answer | ConnectionError> {
  const what = nameOf(method, url);
  try {
    return await within({ signal, timeoutMs }, what, async (ending) =>
      readAnswer(
        await fetch(url, {
          method,
          headers,
          ...(body !== undefined && { body }),
          // A secret goes to the address that was given, and to no other.
          redirect: 'manual',
          ...(inBrowser && { credentials: 'omit' as const }),
          signal: ending,
        }),
      ),
    );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const reason = error instanceof TimeoutError ? `nothing within ${timeoutMs} ms` : reasonOf(error);
    return new ConnectionError(`${what} got no answer: ${reason}.`, { code: 'CONNECTION', cause: error });
  }
}

/** A request as errors name it: without what a query may tell. */
export function nameOf(method: string, url: string): string {
  return `${method} ${url.split('?')[0]}`;
}

/** Runtimes nest the reason at different depths, and `fetch failed` alone does not help. */
function reasonOf(error: unknown): string {
  const { cause, code, message } = (error ?? {}) as { cause?: unknown; code?: unknown; message?: unknown };
  if (cause instanceof Error && cause !== error) return reasonOf(cause);
  const known = [code, message].filter((part) => typeof part === 'string' && part !== '');
  return known.length === 0 ? String(error) : known.join(', ').replace(/\.$/, '');
}

/** Where a program may name itself, it does; in a page the browser has its own say. */
export function namedHeaders(userAgent: string | undefined): Headers {
  const headers = new Headers({ accept: 'application/json' });
  if (userAgent !== undefined && !inBrowser) headers.set('user-agent', userAgent);
  return headers;
}
