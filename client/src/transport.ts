import type { BearerToken, Credential } from './credential.ts';
import { ConnectionError } from './errors.ts';
import { baseHeaders, describeRequest, exchange, type Fetch } from './exchange.ts';
import { asObject, type BufferedResponse, failureIn, unexpected } from './response.ts';
import { type Attempt, type RetryRules, withRetries } from './retries.ts';
import { withTimeLimit } from './time-limits.ts';

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, even while it waits for a retry or for an access token. */
  readonly signal?: AbortSignal | undefined;
  /** The longest that the call may take, including retries and the pauses before them. */
  readonly timeoutMs?: number | undefined;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
  /** Whether a successful response is one of the service. A proxy's lacks its fields. */
  readonly isExpected: (body: Readonly<Record<string, unknown>>) => boolean;
  /** How long the service was asked to hold its response. */
  readonly holdMs?: number;
  /** Interprets the response to a retry when an earlier attempt may have succeeded without a response. */
  readonly afterLostAttempt?: (response: BufferedResponse) => BufferedResponse;
}

interface TransportSettings extends RetryRules {
  readonly baseUrl: string;
  readonly credential: Credential;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly userAgent: string | undefined;
}

/** Calls the public API with the credential, and retries transient failures. */
export class Transport {
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /** Returns a successful response of the service, or throws. */
  async request(call: Call, options: CallOptions): Promise<BufferedResponse> {
    const url = this.#urlOf(call);
    const request = describeRequest(call.method, url);
    const { timeoutMs = this.#settings.timeoutMs + (call.holdMs ?? 0), signal } = options;
    const deadline = performance.now() + timeoutMs;
    let lost = false;
    return withTimeLimit({ signal, timeoutMs }, request, (limited) =>
      withRetries(this.#settings, deadline, limited, async (): Promise<Attempt<BufferedResponse>> => {
        const response = await this.#send(call, url, limited);
        if (response instanceof ConnectionError) {
          lost = true;
          return { failure: response };
        }
        if (response.status >= 500) {
          lost = true;
          return { failure: failureIn(response, request), headers: response.headers };
        }
        const interpreted = lost && call.afterLostAttempt ? call.afterLostAttempt(response) : response;
        return judge(interpreted, call, request);
      }),
    );
  }

  /** If the service rejects a cached token, sends the request once more with a new one. */
  async #send(call: Call, url: string, signal: AbortSignal): Promise<BufferedResponse | ConnectionError> {
    const { credential } = this.#settings;
    const token = await credential.token(signal);
    const response = await this.#sendWith(token, call, url, signal);
    if (response instanceof ConnectionError || response.status !== 401 || !token.isCached) return response;
    return this.#sendWith(await credential.renew(token.value, signal), call, url, signal);
  }

  #sendWith(
    { value }: BearerToken,
    call: Call,
    url: string,
    signal: AbortSignal,
  ): Promise<BufferedResponse | ConnectionError> {
    const { method, body, holdMs = 0 } = call;
    const { fetch, attemptTimeoutMs, userAgent } = this.#settings;
    const headers = baseHeaders(userAgent);
    headers.set('authorization', `Bearer ${value}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    for (const [name, text] of Object.entries(call.headers ?? {})) {
      if (text !== undefined) headers.set(name, text);
    }
    const outgoing = { method, url, headers, timeoutMs: attemptTimeoutMs + holdMs };
    return exchange(fetch, { ...outgoing, body: body && JSON.stringify(body) }, signal);
  }

  #urlOf({ path, query = {} }: Call): string {
    const url = new URL(`${this.#settings.baseUrl}/api/v1${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }
}

function judge(response: BufferedResponse, call: Call, request: string): Attempt<BufferedResponse> {
  const { status, headers, body } = response;
  if (status === 304 && call.headers?.['if-none-match'] !== undefined) return { done: response };
  if (status < 200 || status >= 300) return { failure: failureIn(response, request), headers };
  if (!call.isExpected(asObject(body) ?? {})) return { failure: unexpected(response, request) };
  return { done: response };
}
