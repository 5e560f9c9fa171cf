import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { counted } from '../../../runtime/src/pure/text.ts';
import { type Limits, limits, timerMsMax } from '../domain/limits.ts';
import { boundHeaders } from './bounded-headers.ts';
import { Connection, type ConnectionOptions } from './connection.ts';

export interface ListenerOptions extends Pick<ConnectionOptions, 'refused'> {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly limits: Pick<Limits, 'requestTimeoutMs'>;
}

const headerBytesMax = limits.headerBytesMax.default;
const headersMax = limits.headersMax.default;
const headersTimeoutMs = 10_000;
const keepAliveMs = 65_000;
/** An upload may take this many times as long as other requests: 50 MB in ten minutes, or 90 kB per second. */
const uploadTimeFactor = 20;
/** How long a TLS connection stays open after its peer has closed it. */
const endedTlsMs = 1000;
const tooSlow = 'Timed out waiting for the request.';

/** Up to this size, copying a body is faster than writing headers and body as two parts. */
const joinedBytesMax = 4096;

/** When a body that had to wait got its turn (`performance.now()`). Infinity before that, and for uploads. */
const bodyStarts = new WeakMap<IncomingMessage, number>();

/** Gives the body of this request the time limit of uploads. Call it once the caller is known to be allowed to upload. */
export function allowSlowBody(request: IncomingMessage): void {
  bodyStarts.set(request, Number.POSITIVE_INFINITY);
}

/** Measures the time limit of this body from now. */
export function restartTimeLimit(request: IncomingMessage): void {
  bodyStarts.set(request, performance.now());
}

/** For `Expect: 100-continue`: tells the caller to send its body (RFC 9110 §10.1.1), unless it is too large. */
export function askForBody({ request, raw: response }: FastifyReply): void {
  const { bodyLimit = Number.POSITIVE_INFINITY } = request.routeOptions;
  const { 'content-length': length = 0 } = request.headers;
  if (request.raw.httpVersion === '1.1' && Number(length) <= bodyLimit) response.writeContinue();
}

/**
 * An HTTP server that also answers malformed requests, which never reach a handler, with the error envelope. It does not
 * `import` `node:http`: that would read all its exports, one of which loads all of `fetch`, 65 ms and 14 MB at the start.
 */
export function createListener(handle: RequestListener, options: ListenerOptions): Server {
  const { tls } = options;
  const { requestTimeoutMs } = options.limits;
  const http = process.getBuiltinModule('node:http');
  /** Writes a small body and its headers as one string. */
  class JoinedResponse extends http.ServerResponse {
    override end(body?: unknown, encoding?: unknown, done?: () => void): this {
      const isSmall = Buffer.isBuffer(body) && body.length <= joinedBytesMax;
      // Latin-1 maps each byte to a character and back unchanged.
      if (isSmall && !encoding && !done) return super.end(body.toString('latin1'), 'latin1');
      return super.end(body, encoding as BufferEncoding, done);
    }
  }
  const checkEveryMs = Math.min(2000, requestTimeoutMs / 4);
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
  const serverOptions = {
    ServerResponse: JoinedResponse,
    maxHeaderSize: headerBytesMax,
    // The limit for uploads. Node has one limit for all requests: the check below enforces the shorter one.
    requestTimeout: Math.min(uploadTimeFactor * requestTimeoutMs, timerMsMax),
    headersTimeout,
    connectionsCheckingInterval: checkEveryMs,
    keepAliveTimeout: keepAliveMs,
    // Checked by `ambiguityOf`: Node's own 400 has no body.
    requireHostHeader: false,
    // Otherwise Node would keep the first of two hosts, credentials or content types. Joined, they are rejected.
    joinDuplicateHeaders: true,
    // Upgrade is not supported: the request is answered as if it had no Upgrade header (RFC 9110 §7.8).
    shouldUpgradeCallback: () => false,
  };
  const connections = new Connections();
  const receive: RequestListener = (request, response) => {
    boundHeaders(request.headers);
    connections.of(request.socket)?.receive(request, response);
  };
  const server = tls
    ? process
        .getBuiltinModule('node:https')
        .createServer({ ...serverOptions, ...tls, handshakeTimeout: headersTimeout }, receive)
    : http.createServer(serverOptions, receive);
  // A peer that closes its side after a whole request still gets the response. Over TLS Node closes both sides.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.maxHeadersCount = headersMax;
  // Closes every connection as soon as it has no request in progress; the last response says `Connection: close`. Node
  // would also destroy connections whose peer is still reading its last response.
  server.closeIdleConnections = () => connections.closeWhenIdle();
  const check = setInterval(() => connections.refuseLate(requestTimeoutMs), checkEveryMs).unref();
  server.on('close', () => clearInterval(check));
  // Longer than the limits above, which send a response before they close.
  const silenceMs = Math.min(requestTimeoutMs + 2 * checkEveryMs, timerMsMax);
  server.setTimeout(silenceMs, (socket) => connections.of(socket)?.timeOut());
  ignoreSocketErrors(server);
  const lingerMs = Math.min(requestTimeoutMs, timerMsMax);
  const { refused } = options;
  connections.follow(server, tls !== undefined, { handle, refused, lingerMs });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const connection = connections.of(socket);
    // After a failed TLS handshake no response can be sent. A browser that connected in advance would mistake a
    // response for the answer to its first request.
    if (connection === undefined || connection.isUnused) socket.destroy();
    else connection.refuse(reasons[error.code ?? ''] ?? 'Malformed HTTP request.');
  });
  server.on('connect', (_: unknown, socket: Duplex) => {
    connections.of(socket)?.refuse('CONNECT is not supported.');
    // Node no longer reads the socket and would not notice its end.
    socket.resume();
  });
  // Without this listener, Node would ask for the body before the caller is checked. `askForBody` asks for it.
  server.on('checkContinue', receive);
  server.on('checkExpectation', ({ socket }) => connections.of(socket)?.refuse('Unsupported Expect header.'));
  return server;
}

/** An error without a listener ends the process. Node removes its own after CONNECT and after the first error. */
function ignoreSocketErrors(server: Server): void {
  const ignoreErrors = (socket: Duplex) => void socket.on('error', () => {});
  // A TLS connection is two sockets: the accepted one, and the one that decrypts it.
  server.on('connection', ignoreErrors).on('secureConnection', ignoreErrors);
  // The server reports connections that it could not accept.
  server.on('error', () => {});
}

const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `Request headers are too large. The limit is ${counted(headerBytesMax, 'byte')} and ${counted(headersMax, 'header')}.`,
  ERR_HTTP_REQUEST_TIMEOUT: tooSlow,
};

class Connections {
  readonly #open = new Map<Duplex, Connection>();
  /** Accepted sockets without a finished TLS handshake, by the peer's address and port. */
  readonly #handshaking = new Map<string, Socket>();

  of(socket: Duplex): Connection | undefined {
    return this.#open.get(socket);
  }

  follow(server: Server, isTls: boolean, options: ConnectionOptions): void {
    if (isTls) {
      server.on('connection', (socket: Socket) => {
        const peer = peerOf(socket);
        this.#handshaking.set(peer, socket);
        socket.once('close', () => this.#handshaking.delete(peer));
      });
    }
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#handshaking.delete(peerOf(socket));
      this.#open.set(socket, new Connection(socket, options));
      socket.once('close', () => this.#open.delete(socket));
      // Node 24 leaves a write pending forever, and the socket open, on about half of the TLS connections that are reset
      // between a request and its response.
      if (isTls) socket.once('end', () => setTimeout(() => socket.destroy(), endedTlsMs).unref());
    });
  }

  refuseLate(timeoutMs: number): void {
    const time = performance.now() - timeoutMs;
    for (const connection of this.#open.values()) {
      const request = connection.requestArrivingSince(time);
      if (request !== undefined && (bodyStarts.get(request) ?? 0) < time) connection.refuse(tooSlow);
    }
  }

  closeWhenIdle(): void {
    for (const socket of this.#handshaking.values()) socket.destroy();
    for (const connection of this.#open.values()) connection.closeWhenIdle();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
