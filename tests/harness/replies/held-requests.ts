import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Service } from '../service/service.ts';

interface HeldResponse {
  readonly status: number;
  readonly body: any;
  /** By this machine's clock. */
  readonly answeredAtMs: number;
}

/** Any number of callers that wait for a reply (`Prefer: wait`), each on its own connection. */
export class HeldRequests {
  readonly #agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  readonly #service: Service;
  readonly #key: string;
  readonly #requests: ClientRequest[] = [];
  /** The number of requests without a response. */
  waiting = 0;

  constructor(service: Service, key: string) {
    this.#service = service;
    this.#key = key;
  }

  /** Rejects if the connection ends without a response. */
  async hold(threadId: string, seconds: number): Promise<HeldResponse> {
    const sent = request(`${this.#service.baseUrl}/api/v1/threads/${threadId}`, {
      agent: this.#agent,
      headers: { authorization: `Bearer ${this.#key}`, prefer: `wait=${seconds}` },
    });
    this.#requests.push(sent);
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    sent.end();
    this.waiting += 1;
    try {
      const [response] = await answered;
      const answeredAtMs = Date.now();
      return { status: response.statusCode as number, body: await json(response), answeredAtMs };
    } finally {
      this.waiting -= 1;
    }
  }

  /** Disconnects all callers. */
  abandon(): void {
    for (const sent of this.#requests.splice(0)) sent.destroy();
  }
}
