import { eventually, waitMsMax } from '../service/eventually.ts';
import { type ApiResponse, checkResponse } from './conformance.ts';
import { request } from './request.ts';

export interface Call {
  readonly body?: unknown;
  /** Sent unchanged, instead of `body` as JSON. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** The public API as the holder of one credential uses it. Every response is checked against openapi.json. */
export class Api {
  readonly #baseUrl: string;
  readonly #key: string | undefined;

  constructor(baseUrl: string, key?: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  async call(method: string, path: string, { body, raw, headers = {} }: Call = {}): Promise<ApiResponse> {
    const hasBody = body !== undefined || raw !== undefined;
    const { text, ...response } = await request(`${this.#baseUrl}/api/v1${path}`, {
      method,
      headers: {
        ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        ...(hasBody && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(hasBody && { body: raw ?? JSON.stringify(body) }),
    });
    const answer = { ...response, body: text === '' ? undefined : JSON.parse(text) };
    checkResponse(method, path, answer);
    return answer;
  }

  create(body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.call('POST', '/threads', { body, headers });
  }

  get(id: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.call('GET', `/threads/${id}`, { headers });
  }

  list(
    query: Record<string, string | number> = {},
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    const text = parameters.toString();
    return this.call('GET', text === '' ? '/threads' : `/threads?${text}`, { headers });
  }

  rename(id: string, title: string): Promise<ApiResponse> {
    return this.call('PATCH', `/threads/${id}`, { body: { title } });
  }

  delete(id: string): Promise<ApiResponse> {
    return this.call('DELETE', `/threads/${id}`);
  }

  /** Every thread of a listing, page by page. */
  async walk(query: Record<string, string | number> = {}): Promise<any[]> {
    const threads: any[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const { status, body } = await this.list({ ...query, ...(cursor !== undefined && { cursor }) });
      if (status !== 200) throw new Error(`list answered ${status}: ${JSON.stringify(body)}`);
      threads.push(...body.threads);
      cursor = body.nextCursor as string | null;
    }
    return threads;
  }

  /** Polls, as a caller would, until the reply has finished or failed. */
  async untilDone(id: string, timeoutMs = waitMsMax): Promise<any> {
    return this.until(id, (body) => body.status.state !== 'in_progress', timeoutMs);
  }

  /** The first reply of each thread. */
  async replies(ids: readonly string[]): Promise<any[]> {
    return Promise.all(ids.map(async (id) => (await this.get(id)).body.messages[1]));
  }

  async until(id: string, condition: (body: any) => boolean, timeoutMs = waitMsMax): Promise<any> {
    const isEnough = ({ status, body }: ApiResponse) => status === 200 && condition(body);
    return (await eventually(() => this.get(id), isEnough, timeoutMs)).body;
  }
}
