import assert from 'node:assert/strict';
import { assertRetryAfter } from './assertions.ts';
import { type ConsoleCall, ConsoleClient, type ConsoleResponse, testPassword } from './console-client.ts';

/** A person who is signed in to one organization. */
export class Visitor {
  readonly client: ConsoleClient;
  readonly #organizationId: string;

  constructor(client: ConsoleClient, organizationId: string) {
    this.client = client;
    this.#organizationId = organizationId;
  }

  /** Accepts an invitation link from an admin or the operator. */
  static async accept(organizationId: string, link: string): Promise<Visitor> {
    const client = new ConsoleClient(new URL(link).origin);
    assertDone(await client.acceptInvitation(link, testPassword));
    return new Visitor(client, organizationId);
  }

  get userId(): string {
    return this.client.session.user.id;
  }

  /** `path` is under the organization. */
  call(method: string, path: string, call: ConsoleCall = {}): Promise<ConsoleResponse> {
    return this.client.call(method, this.client.at(path, this.#organizationId), call);
  }

  get(path: string): Promise<ConsoleResponse> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown): Promise<ConsoleResponse> {
    return this.call('POST', path, { body });
  }

  patch(path: string, body: unknown): Promise<ConsoleResponse> {
    return this.call('PATCH', path, { body });
  }

  delete(path: string): Promise<ConsoleResponse> {
    return this.call('DELETE', path);
  }

  upload(query: Record<string, string>, text: string): Promise<ConsoleResponse> {
    return this.call('POST', `/documents?${new URLSearchParams(query)}`, { file: Buffer.from(text) });
  }

  /** The same person's request for a resource of another organization. */
  intrude(
    organizationId: string,
    method: string,
    path: string,
    call: ConsoleCall = {},
  ): Promise<ConsoleResponse> {
    return this.client.call(method, this.client.at(path, organizationId), call);
  }
}

/** Fails unless the route rejected the request with this status and the envelope of the public API. */
export function assertRefused(answer: ConsoleResponse, status: number, message = /./): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.match(answer.body.error.message, message);
  assert.equal(answer.body.error.trace_id, answer.headers.get('x-request-id'));
  assertRetryAfter(answer);
}

export function assertDone(answer: ConsoleResponse, status = 200): any {
  // A body can have megabytes, so it is described only if the test fails.
  if (answer.status !== status)
    assert.fail(`${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
