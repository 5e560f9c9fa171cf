import assert from 'node:assert/strict';
import { request } from '../http/request.ts';
import type { Service } from '../service/service.ts';

export interface ConsoleResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

export interface ConsoleCall {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly file?: Uint8Array;
  readonly headers?: Record<string, string>;
}

/** Calls the console's backend like a browser: keeps cookies, and proves that the page sent the request. */
export class ConsoleClient {
  readonly baseUrl: string;
  /** The cookies that a browser would send, by name. */
  readonly cookies = new Map<string, string>();
  csrfToken = 'none';
  /** From the last response that contained one. */
  session: any;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** `path` is under `/console`. */
  async call(
    method: string,
    path: string,
    { body, file, headers = {} }: ConsoleCall = {},
  ): Promise<ConsoleResponse> {
    const { text, ...response } = await request(new URL(`/console${path}`, this.baseUrl), {
      method,
      headers: {
        ...this.cookieHeader(),
        ...(method !== 'GET' && { 'x-skein-csrf': this.csrfToken }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(file !== undefined && { 'content-type': 'application/octet-stream' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file !== undefined && { body: file }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const answer = { ...response, body: text === '' ? undefined : JSON.parse(text) };
    assert.equal(answer.headers.get('cache-control'), 'no-store', `${method} ${path} is kept nowhere`);
    if (typeof answer.body?.csrfToken === 'string') {
      this.session = answer.body;
      this.csrfToken = answer.body.csrfToken;
    }
    return answer;
  }

  /** Requests any address of the service with the cookies, without following redirects. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...this.cookieHeader() };
    const response = await fetch(new URL(path, this.baseUrl), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  get(path: string): Promise<ConsoleResponse> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown): Promise<ConsoleResponse> {
    return this.call('POST', path, { body });
  }

  put(path: string, body: unknown): Promise<ConsoleResponse> {
    return this.call('PUT', path, { body });
  }

  patch(path: string, body: unknown): Promise<ConsoleResponse> {
    return this.call('PATCH', path, { body });
  }

  delete(path: string): Promise<ConsoleResponse> {
    return this.call('DELETE', path);
  }

  signIn(email: string, password: string): Promise<ConsoleResponse> {
    return this.post('/sign-in', { email, password });
  }

  /** `link` is the one that `skein member add` and the Members page show. */
  acceptInvitation(link: string, password: string): Promise<ConsoleResponse> {
    return this.post('/invitation/accept', { token: parseToken(link), password });
  }

  /** The path of an organization's resource, below `/console`. Defaults to the person's first organization. */
  at(path: string, organizationId: string = this.session.organizations[0].id): string {
    return `/organizations/${organizationId}${path}`;
  }

  cookieHeader(): { cookie?: string } {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length === 0 ? {} : { cookie: pairs.join('; ') };
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const [name = '', value = ''] = pair.split('=');
    const isGone = attributes.some((attribute) =>
      /^(max-age=0|expires=thu, 01 jan 1970.*)$/i.test(attribute),
    );
    if (isGone) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

export const testPassword = 'violin sky harbour';

/** The token in an invitation link. */
export function parseToken(link: string): string {
  return new URL(link).hash.slice(1);
}

/** Adds a person to the organization who accepts at once. The password is `testPassword`. */
export async function signedInMember(
  service: Service,
  organization: string,
  email: string,
  role: 'admin' | 'member' = 'member',
): Promise<ConsoleClient> {
  const { invitation } = await service.skein('member', 'add', organization, email, '--role', role);
  return joined(service, invitation);
}

/** For an existing member (for example from `startWorld`): the operator creates a new link, which the member uses. */
export async function signedInAgain(
  service: Service,
  organization: string,
  email: string,
): Promise<ConsoleClient> {
  const { invitation } = await service.skein('member', 'invite', organization, email);
  return joined(service, invitation);
}

async function joined(service: Service, link: string): Promise<ConsoleClient> {
  const client = new ConsoleClient(service.baseUrl);
  const answer = await client.acceptInvitation(link, testPassword);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return client;
}
