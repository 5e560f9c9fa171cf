import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorBody } from './error-response.ts';

export interface Tls {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** What a slow or greedy peer may take. */
const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  // Answered by ourselves: Node's own 400 has no body.
  requireHostHeader: false,
} as const satisfies ServerOptions;

/** The socket's side of the service: what Node refuses before a request exists gets the envelope, too. */
export function createListener(handler: RequestListener, tls: Tls | undefined): Server {
  const server = tls ? createTlsServer({ ...limits, ...tls }, handler) : createServer(limits, handler);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => refuse(socket, reasonOf(error)));
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    refuse(socket, 'CONNECT is not offered here.'),
  );
  server.on('checkExpectation', (request: IncomingMessage) =>
    refuse(request.socket, 'Expect: is not understood.'),
  );
  return server;
}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return `The request line and headers exceed ${limits.maxHeaderSize} bytes.`;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request took too long to arrive.';
    default:
      return 'The request is not valid HTTP.';
  }
}

function refuse(socket: Duplex, message: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const traceId = randomUUID();
  const body = errorBody('INVALID_PARAMS', message, traceId);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${traceId}\r\nConnection: close\r\n\r\n${body}`,
  );
}
