import assert from 'node:assert/strict';

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

export interface ConsoleCall {
  readonly body?: unknown;
  /** Sent as a file, instead of `body` as JSON. */
  readonly file?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** The console's backend as a browser with one session uses it: with its cookie, and the proof that the page holds. */
export class Visitor {
  readonly userId: string;
  readonly cookie: string;
  readonly csrfToken: string;
  readonly #baseUrl: string;
  readonly #organizationId: string;

  constructor(
    baseUrl: string,
    organizationId: string,
    session: { userId: string; cookie: string; csrfToken: string },
  ) {
    this.#baseUrl = baseUrl;
    this.#organizationId = organizationId;
    this.userId = session.userId;
    this.cookie = session.cookie;
    this.csrfToken = session.csrfToken;
  }

  /** In through the link that an admin or the operator has handed over. */
  static async accept(organizationId: string, link: string): Promise<Visitor> {
    const { origin, hash } = new URL(link);
    const response = await fetch(`${origin}/console/invitation/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-skein-csrf': 'none' },
      body: JSON.stringify({ token: hash.slice(1), password: 'correct horse battery staple' }),
    });
    const body: any = await response.json();
    assert.equal(response.status, 200, JSON.stringify(body));
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
    assert.ok(cookie, 'a session has a cookie');
    return new Visitor(origin, organizationId, {
      userId: body.user.id,
      cookie,
      csrfToken: body.csrfToken,
    });
  }

  /** The same session, in the service at another address. */
  at(baseUrl: string): Visitor {
    return new Visitor(baseUrl, this.#organizationId, this);
  }

  /** `path` is under the organization. */
  call(method: string, path: string, call: ConsoleCall = {}): Promise<ConsoleAnswer> {
    return this.send(method, `/organizations/${this.#organizationId}${path}`, call);
  }

  /** `path` is under `/console`. */
  async send(
    method: string,
    path: string,
    { body, file, headers = {} }: ConsoleCall = {},
  ): Promise<ConsoleAnswer> {
    const response = await fetch(`${this.#baseUrl}/console${path}`, {
      method,
      headers: {
        cookie: this.cookie,
        ...(method !== 'GET' && { 'x-skein-csrf': this.csrfToken }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(file !== undefined && { 'content-type': 'application/octet-stream' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file !== undefined && { body: file }),
    });
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      return { status: response.status, headers: response.headers, body: undefined };
    }
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  get(path: string): Promise<ConsoleAnswer> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown): Promise<ConsoleAnswer> {
    return this.call('POST', path, { body });
  }

  patch(path: string, body: unknown): Promise<ConsoleAnswer> {
    return this.call('PATCH', path, { body });
  }

  delete(path: string): Promise<ConsoleAnswer> {
    return this.call('DELETE', path);
  }

  upload(query: Record<string, string>, file: string | Uint8Array): Promise<ConsoleAnswer> {
    return this.call('POST', `/documents?${new URLSearchParams(query)}`, { file });
  }
}

/** What a route refuses with: the code says why, the envelope is that of the public interface. */
export function assertRefused(answer: ConsoleAnswer, status: number, message = /./): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.match(answer.body.error.message, message);
  assert.equal(answer.body.error.trace_id, answer.headers.get('x-request-id'));
}

export function assertDone(answer: ConsoleAnswer, status = 200): any {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body;
}

/** Asks, as a page would, until the answer is the one waited for. */
export async function until<T>(
  read: () => Promise<T>,
  condition: (value: T) => boolean,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (condition(value)) return value;
    assert.ok(Date.now() < deadline, `gave up on ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
