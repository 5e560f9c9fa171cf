import { type Answer, asObject, failureIn, unexpected } from './answer.ts';
import type { Credential, Shown } from './credential.ts';
import { ConnectionError } from './errors.ts';
import { exchange, type Fetch, namedHeaders, nameOf } from './exchange.ts';
import { within } from './patience.ts';
import { persist, type RetryRules, type Try } from './retries.ts';

/** What every call takes. */
export interface CallOptions {
  /** Ends the call: on its way, in a pause before another try, and in an exchange of credentials. */
  readonly signal?: AbortSignal | undefined;
  /** The longest that the call may take, every try and pause included. */
  readonly timeoutMs?: number | undefined;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
  /** The field by which the service's answer is known from a proxy's. */
  readonly answeredBy: string;
  /** What the service was asked to hold its answer. */
  readonly holdMs?: number;
  /** What an answer to a second try means when the first may have done its work unheard. */
  readonly afterLostTry?: (answer: Answer) => Answer;
}

export interface TransportSettings extends RetryRules {
  readonly baseUrl: string;
  readonly credential: Credential;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly userAgent: string | undefined;
}

/** Calls of the public interface: with credentials, tried again where that may help. */
export class Transport {
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /** The service's answer to a call, when it is a good one. */
  async request(call: Call, options: CallOptions): Promise<Answer> {
    const url = this.#urlOf(call);
    const what = nameOf(call.method, url);
    const { timeoutMs = this.#settings.timeoutMs + (call.holdMs ?? 0), signal } = options;
    const deadline = performance.now() + timeoutMs;
    let lost = false;
    return within({ signal, timeoutMs }, what, (ending) =>
      persist(this.#settings, deadline, ending, async (): Promise<Try<Answer>> => {
        const answer = await this.#send(call, url, ending);
        if (answer instanceof ConnectionError || answer.status >= 500) {
          const failure = answer instanceof ConnectionError ? answer : failureIn(answer, what);
          lost = true;
          return { failure, headers: answer instanceof ConnectionError ? undefined : answer.headers };
        }
        return judge(lost && call.afterLostTry ? call.afterLostTry(answer) : answer, call, what);
      }),
    );
  }

  /** A token from the store that is refused is renewed once; whatever comes then is the answer. */
  async #send(call: Call, url: string, signal: AbortSignal): Promise<Answer | ConnectionError> {
    const { credential } = this.#settings;
    const shown = await credential.present(signal);
    const answer = await this.#sendAs(shown, call, url, signal);
    if (answer instanceof ConnectionError || answer.status !== 401 || !shown.cached) return answer;
    return this.#sendAs(await credential.renew(shown.bearer, signal), call, url, signal);
  }

  #sendAs(
    { bearer }: Shown,
    call: Call,
    url: string,
    signal: AbortSignal,
  ): Promise<Answer | ConnectionError> {
    const { method, body, holdMs = 0 } = call;
    const { fetch, attemptTimeoutMs, userAgent } = this.#settings;
    const headers = namedHeaders(userAgent);
    headers.set('authorization', `Bearer ${bearer}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value !== undefined) headers.set(name, value);
    }
    const text = body && JSON.stringify(body);
    return exchange(
      fetch,
      { method, url, headers, body: text, timeoutMs: attemptTimeoutMs + holdMs },
      signal,
    );
  }

  #urlOf({ path, query = {} }: Call): string {
    const url = new URL(`${this.#settings.baseUrl}/api/v1${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }
}

function judge(answer: Answer, call: Call, what: string): Try<Answer> {
  const { status, headers, body } = answer;
  if (status === 304 && call.headers?.['if-none-match'] !== undefined) return { done: answer };
  if (status < 200 || status >= 300) return { failure: failureIn(answer, what), headers };
  if (asObject(body)?.[call.answeredBy] === undefined) return { failure: unexpected(answer, what) };
  return { done: answer };
}
