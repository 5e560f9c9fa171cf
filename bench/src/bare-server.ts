import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A response captured from the service. */
export interface CapturedResponse {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: string;
}

/**
 * Measures what Node.js itself needs to answer with the same bytes: no routing, no credential, no store. It receives
 * the response once, listens on the loopback address and reports the port.
 */
process.once('message', ({ status, headers, body }: CapturedResponse) => {
  const bytes = Buffer.from(body);
  const flatHeaders = headers.flat();
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(status, flatHeaders).end(bytes);
      return;
    }
    request.on('data', () => {});
    request.on('end', () => response.writeHead(status, flatHeaders).end(bytes));
  });
  server.keepAliveTimeout = 65_000;
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit());
