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
import { type Limits, limits } from '../domain/limits.ts';
import { errorBody } from './error-response.ts';
import { ambiguityOf } from './headers.ts';

export interface ListenerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly limits: Pick<Limits, 'requestTimeoutMs'>;
  /** Told of every request that Node refused before it became one. */
  readonly refused: (traceId: string, reason: string) => void;
}

const headerBytesMax = limits.headerBytesMax.default;
const headersTimeoutMs = 10_000;
const keepAliveMs = 65_000;
/** So many times as long as other requests a file may take: 50 MB in ten minutes, which is 90 kB a second. */
const fileTimeouts = 20;
const tooSlow = 'The request took too long to arrive.';
/** How long a refused peer may go on sending: closing at once would reset the connection and take the answer along. */
const lingerMs = 1000;

export interface Listener {
  readonly server: Server;
  /** Ends every connection as soon as it has no request under way, and tells its peer so where there is one. */
  letGo(): void;
}

const files = new WeakSet<IncomingMessage>();

/** Lets the body of this request arrive as slowly as a file may. For callers who may send one, once that is known. */
export function awaitFile(request: IncomingMessage): void {
  files.add(request);
}

/** The socket's side of the service: what Node refuses before a request exists gets the envelope, too. */
export function createListener(handler: RequestListener, options: ListenerOptions): Listener {
  const { tls } = options;
  const { requestTimeoutMs } = options.limits;
  const checkEveryMs = Math.min(2000, requestTimeoutMs / 4);
  const serverOptions = {
    maxHeaderSize: headerBytesMax,
    // Of files. Node knows one limit for all: of other requests it is seen to below.
    requestTimeout: Math.min(fileTimeouts * requestTimeoutMs, 2 ** 31 - 1),
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: checkEveryMs,
    keepAliveTimeout: keepAliveMs,
    // Answered by ourselves (headers.ts): Node's own 400 has no body.
    requireHostHeader: false,
    // Nothing here is upgraded to: the request is answered as if it had not asked (RFC 9110 §7.8).
    shouldUpgradeCallback: () => false,
  };
  const connections = new Connections();
  const refuse = (socket: Duplex, reason: string) => connections.refuse(socket, reason, options.refused);
  const tracked: RequestListener = (request, response) => {
    // What follows a refused request on its connection may be a part of it: it is not for us to run.
    if (connections.isRefused(request.socket)) return;
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) {
      refuse(request.socket, ambiguity);
      return;
    }
    connections.begin(request.socket, response);
    handler(request, response);
  };
  const server = tls
    ? createTlsServer({ ...serverOptions, ...tls }, tracked)
    : createServer(serverOptions, tracked);
  // A peer that closes its side after a whole request still gets the answer.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  const check = setInterval(() => {
    for (const socket of connections.late(requestTimeoutMs)) refuse(socket, tooSlow);
  }, checkEveryMs);
  check.unref();
  server.on('close', () => clearInterval(check));
  ignoreSocketErrors(server);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Duplex) => connections.add(socket));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => refuse(socket, reasonOf(error)));
  server.on('connect', (_: unknown, socket: Duplex) => refuse(socket, 'CONNECT is not offered here.'));
  server.on('checkExpectation', ({ socket }) => refuse(socket, 'Expect: is not understood.'));
  return { server, letGo: () => connections.letGo() };
}

/**
 * Gives every connection an error listener for its whole life. Node removes its own after CONNECT and after its first
 * error, and an error without a listener ends the process. Whoever waits on a connection hears of its end by `close`.
 */
function ignoreSocketErrors(server: Server): void {
  const listen = (socket: Duplex) => void socket.on('error', () => {});
  // A TLS connection is two sockets: the accepted one, and the one that decrypts it.
  server.on('connection', listen).on('secureConnection', listen);
}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return `The request line and headers exceed ${headerBytesMax} bytes.`;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return tooSlow;
    default:
      return 'The request is not valid HTTP.';
  }
}

/** The last two exchanges of a connection. Answers go out in order: when one is out, so are all before it. */
interface Connection {
  current: ServerResponse | undefined;
  /** When the head of the current request had arrived, by a clock that nobody sets. */
  begunAt: number;
  previous: ServerResponse | undefined;
}

class Connections {
  readonly #open = new Map<Duplex, Connection>();
  readonly #refused = new WeakSet<Duplex>();

  add(socket: Duplex): void {
    this.#open.set(socket, { current: undefined, begunAt: 0, previous: undefined });
    socket.once('close', () => this.#open.delete(socket));
  }

  begin(socket: Duplex, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.previous = connection.current;
    connection.current = response;
    connection.begunAt = performance.now();
  }

  /** Those whose request, if it is not a file, has been on its way for longer than this. */
  late(timeoutMs: number): Duplex[] {
    const since = performance.now() - timeoutMs;
    return [...this.#open]
      .filter(
        ([, { current, begunAt }]) =>
          current !== undefined && begunAt < since && !current.req.complete && !files.has(current.req),
      )
      .map(([socket]) => socket);
  }

  letGo(): void {
    for (const [socket, { current }] of this.#open) {
      if (current === undefined || current.writableFinished) socket.destroy();
      else {
        current.shouldKeepAlive = false;
        current.once('close', () => socket.end());
      }
    }
  }

  isRefused(socket: Duplex): boolean {
    return this.#refused.has(socket);
  }

  /** A refusal waits for the answers before it, so that each request reads its own. */
  refuse(socket: Duplex, reason: string, report: ListenerOptions['refused']): void {
    // Whatever else the peer sends meanwhile is refused already.
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const { current, previous } = this.#open.get(socket) ?? {};
    // The fault lies either in the body of the current request, or behind it.
    const inBody = current !== undefined && !current.req.complete;
    const before = inBody ? previous : current;
    const speak = () => {
      // A request that was answered before its body had arrived has heard enough.
      if (!(inBody && current.headersSent) && socket.writable) answer(socket, reason, report);
      close(socket);
    };
    if (before === undefined || before.writableFinished || before.destroyed) speak();
    else before.once('close', speak);
  }
}

function answer(socket: Duplex, reason: string, report: ListenerOptions['refused']): void {
  const traceId = randomUUID();
  const body = errorBody('INVALID_PARAMS', reason, traceId);
  socket.write(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${traceId}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
  report(traceId, reason);
}

function close(socket: Duplex): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
