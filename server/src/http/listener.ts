import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorBody } from './error-response.ts';
import { ambiguityOf } from './headers.ts';

export interface ListenerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly requestTimeoutMs: number;
  /** Told of every request that Node refused before it became one. */
  readonly refused: (traceId: string, reason: string) => void;
}

const headerBytesMax = 16 * 1024;
const headersTimeoutMs = 10_000;
const keepAliveMs = 65_000;
/** How long a refused peer may go on sending: closing at once would reset the connection and take the answer along. */
const lingerMs = 1000;

/** The socket's side of the service: what Node refuses before a request exists gets the envelope, too. */
export function createListener(handler: RequestListener, options: ListenerOptions): Server {
  const { tls, requestTimeoutMs } = options;
  const limits = {
    maxHeaderSize: headerBytesMax,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(2000, requestTimeoutMs / 4),
    keepAliveTimeout: keepAliveMs,
    // Answered by ourselves (headers.ts): Node's own 400 has no body.
    requireHostHeader: false,
    // Nothing here is upgraded to: the request is answered as if it had not asked (RFC 9110 §7.8).
    shouldUpgradeCallback: () => false,
  };
  const exchanges = new Exchanges();
  const refuse = (socket: Duplex, reason: string) => exchanges.refuse(socket, reason, options.refused);
  const tracked: RequestListener = (request, response) => {
    // What follows a refused request on its connection may be a part of it: it is not for us to run.
    if (exchanges.isRefused(request.socket)) return;
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) {
      refuse(request.socket, ambiguity);
      return;
    }
    exchanges.add(request, response);
    handler(request, response);
  };
  const server = tls ? createTlsServer({ ...limits, ...tls }, tracked) : createServer(limits, tracked);
  // A peer that closes its side after a whole request still gets the answer.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => refuse(socket, reasonOf(error)));
  server.on('connect', (_: IncomingMessage, socket: Duplex) =>
    refuse(socket, 'CONNECT is not offered here.'),
  );
  server.on('checkExpectation', ({ socket }: IncomingMessage) =>
    refuse(socket, 'Expect: is not understood.'),
  );
  return server;
}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return `The request line and headers exceed ${headerBytesMax} bytes.`;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request took too long to arrive.';
    default:
      return 'The request is not valid HTTP.';
  }
}

/** The unanswered requests of each connection: a refusal waits for their answers, so that each peer reads its own. */
class Exchanges {
  readonly #open = new WeakMap<Duplex, Set<ServerResponse>>();
  readonly #refused = new WeakSet<Duplex>();

  add({ socket }: IncomingMessage, response: ServerResponse): void {
    let open = this.#open.get(socket);
    if (open === undefined) {
      open = new Set();
      this.#open.set(socket, open);
    }
    const responses = open.add(response);
    response.once('close', () => responses.delete(response));
  }

  isRefused(socket: Duplex): boolean {
    return this.#refused.has(socket);
  }

  refuse(socket: Duplex, reason: string, report: ListenerOptions['refused']): void {
    // Whatever else the peer sends meanwhile is refused already.
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const open = [...(this.#open.get(socket) ?? [])];
    const waiting = open.filter(({ req }) => req.complete);
    // The fault lies in the body of a request that was answered before it had arrived: nothing more to say.
    const answered = open.some(({ req, headersSent }) => !req.complete && headersSent);
    const spoken = waiting.map((response) => new Promise((resolve) => response.once('close', resolve)));
    void Promise.all(spoken).then(() => {
      if (!answered && socket.writable) answer(socket, reason, report);
      close(socket);
    });
  }
}

function answer(socket: Duplex, reason: string, report: ListenerOptions['refused']): void {
  const traceId = randomUUID();
  const body = errorBody('INVALID_PARAMS', reason, traceId);
  socket.write(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${traceId}\r\nConnection: close\r\n\r\n${body}`,
  );
  report(traceId, reason);
}

function close(socket: Duplex): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
