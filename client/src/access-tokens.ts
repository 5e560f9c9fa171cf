import type { BearerToken, Credential } from './credential.ts';
import {
  InvalidParamsError,
  RateLimitedError,
  SkeinError,
  UnauthorizedError,
  UnexpectedResponseError,
} from './errors.ts';
import { baseHeaders, describeRequest, exchange, type Fetch } from './exchange.ts';
import { asObject, asText, type BufferedResponse, failureIn, retryAfter, unexpected } from './response.ts';
import { type RetryRules, withRetries } from './retries.ts';
import { rejectWhenAborted, withTimeLimit } from './time-limits.ts';

export interface ApplicationSettings extends RetryRules {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly userAgent: string | undefined;
}

interface Token {
  readonly value: string;
  /** Some time before it expires, so that it does not expire on its way. */
  readonly renewAt: number;
}

/** A token request that any number of calls wait for. */
interface SharedRequest {
  readonly result: Promise<Token>;
  readonly controller: AbortController;
  waiting: number;
}

const assumedLifetimeSeconds = 300;
const renewEarlyMsMax = 60_000;

/** The access tokens of an application (§5.4). Calls share one token, which is renewed before it expires. */
export class AccessTokens implements Credential {
  readonly #settings: ApplicationSettings;
  #current: Token | undefined;
  #request: SharedRequest | undefined;

  constructor(settings: ApplicationSettings) {
    this.#settings = settings;
  }

  async token(signal: AbortSignal): Promise<BearerToken> {
    const current = this.#current;
    if (current !== undefined && Date.now() < current.renewAt)
      return { value: current.value, isCached: true };
    const { value } = await this.#join(signal);
    return { value, isCached: false };
  }

  async renew(rejected: string, signal: AbortSignal): Promise<BearerToken> {
    // If many calls are rejected at once, the first drops the token and the others find the new one.
    if (this.#current?.value === rejected) this.#current = undefined;
    return this.token(signal);
  }

  /** The request goes on while at least one caller waits for it. */
  async #join(signal: AbortSignal): Promise<Token> {
    this.#request ??= this.#start();
    const request = this.#request;
    request.waiting += 1;
    try {
      return await Promise.race([request.result, rejectWhenAborted(signal)]);
    } finally {
      request.waiting -= 1;
      if (request.waiting === 0) {
        if (this.#request === request) this.#request = undefined;
        request.controller.abort();
      }
    }
  }

  #start(): SharedRequest {
    const controller = new AbortController();
    const result = this.#fetchToken(controller.signal).then((token) => {
      this.#current = token;
      return token;
    });
    // Waiting callers get the error. Without any, the error is ignored: it must not be an unhandled rejection.
    result.catch(() => {});
    return { result, controller, waiting: 0 };
  }

  async #fetchToken(signal: AbortSignal): Promise<Token> {
    const { tokenUrl: url, clientId, clientSecret, fetch, timeoutMs, attemptTimeoutMs } = this.#settings;
    const request = describeRequest('POST', url);
    const headers = baseHeaders(this.#settings.userAgent);
    headers.set('content-type', 'application/x-www-form-urlencoded');
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const body = new URLSearchParams(form).toString();
    const deadline = performance.now() + timeoutMs;
    return withTimeLimit({ signal, timeoutMs }, request, (limited) =>
      withRetries(this.#settings, deadline, limited, async () => {
        const startedAt = Date.now();
        const outgoing = { method: 'POST', url, headers, body, timeoutMs: attemptTimeoutMs };
        const response = await exchange(fetch, outgoing, limited);
        if (response instanceof SkeinError) return { failure: response };
        if (response.status !== 200)
          return { failure: tokenFailure(response, request), headers: response.headers };
        return { done: readToken(response, request, startedAt) };
      }),
    );
  }
}

function readToken(response: BufferedResponse, request: string, startedAt: number): Token {
  const { access_token: value, expires_in: expiresIn } = asObject(response.body) ?? {};
  if (typeof value !== 'string' || value === '') throw unexpected(response, request);
  // Setting such a header would throw an error that contains the token.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new UnexpectedResponseError(`${request} returned an access token with invalid characters.`, {
      code: 'UNEXPECTED_RESPONSE',
      status: response.status,
    });
  }
  const seconds = Number(expiresIn);
  const lifetimeMs = (seconds > 0 ? seconds : assumedLifetimeSeconds) * 1000;
  return { value, renewAt: startedAt + lifetimeMs - Math.min(renewEarlyMsMax, lifetimeMs / 5) };
}

/** Translates OAuth's error codes (RFC 6749 §5.2) to the codes of the service. */
function tokenFailure(response: BufferedResponse, request: string): SkeinError {
  const { status, headers, body } = response;
  const { error, error_description: description } = asObject(body) ?? {};
  if (typeof error !== 'string') return failureIn(response, request);
  const message = `Could not get an access token for the application: ${asText(description) ?? error}`;
  const details = { status, traceId: headers.get('x-request-id') ?? undefined };
  if (status === 429) {
    return new RateLimitedError(message, {
      ...details,
      code: 'RATE_LIMITED',
      retryAfterSeconds: retryAfter(headers),
    });
  }
  if (status >= 500) return failureIn(response, request);
  if (status === 401 || error === 'unauthorized_client') {
    return new UnauthorizedError(message, { ...details, code: 'UNAUTHORIZED' });
  }
  return new InvalidParamsError(message, { ...details, code: 'INVALID_PARAMS' });
}
