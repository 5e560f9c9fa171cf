import { type Answer, asObject, asText, failureIn, retryAfter, unexpected } from './answer.ts';
import type { Credential, Shown } from './credential.ts';
import { InvalidParamsError, RateLimitedError, SkeinError, UnauthorizedError } from './errors.ts';
import { exchange, type Fetch, namedHeaders, nameOf } from './exchange.ts';
import { rejectionBy, within } from './patience.ts';
import { persist, type RetryRules } from './retries.ts';

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
  /** Before it ends, so that none ends on its way. */
  readonly renewAt: number;
}

/** An exchange that any number of calls wait for. */
interface Shared {
  readonly result: Promise<Token>;
  readonly ending: AbortController;
  waiting: number;
}

const assumedLifetimeSeconds = 300;
const renewEarlyMsMax = 60_000;

/** An application's tokens (§5.4): exchanged once for all who need one, kept, and renewed before they end. */
export class AccessTokens implements Credential {
  readonly #settings: ApplicationSettings;
  #current: Token | undefined;
  #shared: Shared | undefined;

  constructor(settings: ApplicationSettings) {
    this.#settings = settings;
  }

  async present(signal: AbortSignal): Promise<Shown> {
    const current = this.#current;
    if (current !== undefined && Date.now() < current.renewAt) return { bearer: current.value, cached: true };
    const { value } = await this.#join(signal);
    return { bearer: value, cached: false };
  }

  async renew(refused: string, signal: AbortSignal): Promise<Shown> {
    // Of many calls that were refused at once, the first drops it; the others find the new one.
    if (this.#current?.value === refused) this.#current = undefined;
    return this.present(signal);
  }

  /** One caller leaving does not end it for the others; it ends when no caller is left. */
  async #join(signal: AbortSignal): Promise<Token> {
    this.#shared ??= this.#begin();
    const shared = this.#shared;
    shared.waiting += 1;
    try {
      return await Promise.race([shared.result, rejectionBy(signal)]);
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) {
        if (this.#shared === shared) this.#shared = undefined;
        shared.ending.abort();
      }
    }
  }

  #begin(): Shared {
    const ending = new AbortController();
    const result = this.#exchange(ending.signal).then((token) => {
      this.#current = token;
      return token;
    });
    // Waiting callers get the error; without any, it is dropped.
    result.catch(() => {});
    return { result, ending, waiting: 0 };
  }

  async #exchange(signal: AbortSignal): Promise<Token> {
    const { tokenUrl: url, clientId, clientSecret, fetch, timeoutMs, attemptTimeoutMs } = this.#settings;
    const what = nameOf('POST', url);
    const headers = namedHeaders(this.#settings.userAgent);
    headers.set('content-type', 'application/x-www-form-urlencoded');
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const body = new URLSearchParams(form).toString();
    const deadline = performance.now() + timeoutMs;
    return within({ signal, timeoutMs }, what, (ending) =>
      persist(this.#settings, deadline, ending, async () => {
        const startedAt = Date.now();
        const outgoing = { method: 'POST', url, headers, body, timeoutMs: attemptTimeoutMs };
        const answer = await exchange(fetch, outgoing, ending);
        if (answer instanceof SkeinError) return { failure: answer };
        if (answer.status !== 200) return { failure: refusalIn(answer, what), headers: answer.headers };
        return { done: readToken(answer, what, startedAt) };
      }),
    );
  }
}

function readToken(answer: Answer, what: string, startedAt: number): Token {
  const { access_token: value, expires_in: expiresIn } = asObject(answer.body) ?? {};
  if (typeof value !== 'string' || value === '') throw unexpected(answer, what);
  const seconds = Number(expiresIn);
  const lifetimeMs = (seconds > 0 ? seconds : assumedLifetimeSeconds) * 1000;
  return { value, renewAt: startedAt + lifetimeMs - Math.min(renewEarlyMsMax, lifetimeMs / 5) };
}

/** OAuth has its own error codes (RFC 6749 §5.2); callers of the client know the service's codes. */
function refusalIn(answer: Answer, what: string): SkeinError {
  const { status, headers, body } = answer;
  const { error, error_description: description } = asObject(body) ?? {};
  if (typeof error !== 'string') return failureIn(answer, what);
  const message = `The application's credentials brought no token: ${asText(description) ?? error}`;
  const facts = { status, traceId: headers.get('x-request-id') ?? undefined };
  if (status === 429) {
    return new RateLimitedError(message, {
      ...facts,
      code: 'RATE_LIMITED',
      retryAfterSeconds: retryAfter(headers),
    });
  }
  if (status >= 500) return failureIn(answer, what);
  if (status === 401 || error === 'unauthorized_client') {
    return new UnauthorizedError(message, { ...facts, code: 'UNAUTHORIZED' });
  }
  return new InvalidParamsError(message, { ...facts, code: 'INVALID_PARAMS' });
}
