import { Agent, type IncomingMessage, request as requestOverHttp } from 'node:http';

interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface HttpRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/** Like `fetch`, it opens a connection for each concurrent request, and keeps it for the next one. */
const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and reads the whole response. It takes a third of the processor time of `fetch` (0.3 ms instead of
 * 0.9 ms), which counts because the tests send tens of thousands. A connection that fails is a `TypeError`, as with `fetch`.
 */
export function request(
  url: string | URL,
  { method, headers, body }: HttpRequest = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(new TypeError(`the request failed: ${cause.message}`, { cause }));
    // Node.js states the length of a body only for methods that usually have one.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    requestOverHttp(url, { agent, method, headers: { accept: '*/*', ...length, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode as number, headers: readHeaders(response), text }),
      );
      response.on('error', fail);
    })
      .on('error', fail)
      .end(body);
  });
}

/** Opens a response that is read as it arrives. `fetch` at times stops reading a stream of many megabytes. */
export function openStream(
  url: string | URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    requestOverHttp(url, { headers, signal }, resolve).on('error', reject).end();
  });
}

export function readHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let place = 0; place < rawHeaders.length; place += 2) {
    headers.append(rawHeaders[place] as string, rawHeaders[place + 1] as string);
  }
  return headers;
}
