import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { counted } from '../../../../runtime/src/pure/text.ts';
import { type Limits, limits, timerMsMax } from '../../domain/limits.ts';
import { boundHeaders } from './bounded-headers.ts';
import { Connection, type ConnectionOptions, malformed, type Timeouts } from './connection.ts';

export interface ListenerOptions extends Pick<ConnectionOptions, 'refuse'> {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly limits: Pick<Limits, 'requestTimeoutMs'>;
}

const headerBytesMax = limits.headerBytesMax.default;
const headersMax = limits.headersMax.default;
const headersTimeoutMs = 10_000;
const keepAliveMs = 65_000;
/** How long a TLS connection stays open after its peer has closed it. */
const endedTlsMs = 1000;
/** Up to this size, copying a body is faster than writing headers and body as two parts. */
const joinedBytesMax = 4096;

/**
 * An HTTP server that also answers malformed requests, which never reach a handler, with the error envelope. It accepts
 * connections itself and hands each to Node's HTTP server as a `Connection`. It does not `import` `node:http`: that would
 * read all its exports, one of which loads all of `fetch`, 65 ms and 14 MB at the start.
 */
export function createListener(handle: RequestListener, options: ListenerOptions): Server {
  const { tls, refuse } = options;
  const { requestTimeoutMs } = options.limits;
  const checkEveryMs = Math.min(2000, requestTimeoutMs / 4);
  const timeouts: Timeouts = {
    headersMs: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestMs: requestTimeoutMs,
    idleMs: keepAliveMs,
    // Longer than the limits above, which send a response before they close.
    silenceMs: Math.min(requestTimeoutMs + 2 * checkEveryMs, timerMsMax),
    lingerMs: Math.min(requestTimeoutMs, timerMsMax),
  };
  const parser = createParser();
  const connections = new Set<Connection>();
  /** Accepted sockets without a finished TLS handshake, by the peer's address and port. */
  const handshaking = new Map<string, Socket>();
  const accept = (socket: Socket) => {
    handshaking.delete(peerOf(socket));
    const connection = new Connection(socket, { handle, refuse, timeouts });
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    // Node 24 leaves a write pending forever, and the socket open, on about half of the TLS connections that are reset
    // between a request and its response.
    if (tls) socket.once('end', () => setTimeout(() => socket.destroy(), endedTlsMs).unref());
    parser.emit('connection', connection);
  };
  // A peer that closes its side after a whole request still gets the response. Over TLS, Node closes both sides.
  const listening = { allowHalfOpen: true, noDelay: true };
  const server = tls
    ? process
        .getBuiltinModule('node:tls')
        .createServer({ ...listening, ...tls, handshakeTimeout: timeouts.headersMs }, accept)
    : process.getBuiltinModule('node:net').createServer(listening, accept);
  if (tls) {
    server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      handshaking.set(peer, socket);
      socket.on('error', () => {}).once('close', () => handshaking.delete(peer));
    });
    // Node reports a handshake that takes too long, and leaves its connection open.
    server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  }
  // It reports connections that it could not accept. Without a listener, an error ends the process.
  server.on('error', () => {});
  const check = setInterval(() => {
    for (const connection of connections) connection.checkTime();
  }, checkEveryMs).unref();
  server.on('close', () => clearInterval(check));
  const closable = Object.assign(server, {
    /** Closes every connection as soon as it has no request in progress; the last response says `Connection: close`. */
    closeIdleConnections() {
      for (const socket of handshaking.values()) socket.destroy();
      for (const connection of connections) connection.closeWhenIdle();
    },
    closeAllConnections() {
      for (const socket of handshaking.values()) socket.destroy();
      for (const connection of connections) connection.destroy();
    },
  });
  // What Fastify and the commands use of an HTTP server, this one has.
  return closable as unknown as Server;
}

/** Node's HTTP server. It never listens, and has no timers: connections are given to it, and watch their own time. */
function createParser(): Server {
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
  const receive: RequestListener = (request, response) => {
    boundHeaders(request.headers);
    connectionOf(request.socket).accept(request, response);
  };
  const parser = http.createServer(
    {
      ServerResponse: JoinedResponse,
      maxHeaderSize: headerBytesMax,
      // Announced to clients. The connection closes itself.
      keepAliveTimeout: keepAliveMs,
      // Checked by `ambiguityOf`: Node's own 400 has no body.
      requireHostHeader: false,
      // Otherwise Node would keep the first of two hosts, credentials or content types. Joined, they are rejected.
      joinDuplicateHeaders: true,
      // Upgrade is not supported: the request is answered as if it had no Upgrade header (RFC 9110 §7.8).
      shouldUpgradeCallback: () => false,
    },
    receive,
  );
  parser.maxHeadersCount = headersMax;
  parser.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const connection = connectionOf(socket);
    // A browser that connected in advance would mistake a response for the answer to its first request.
    if (connection.isUnused) connection.destroy();
    else connection.refuse(reasons[error.code ?? ''] ?? malformed);
  });
  parser.on('connect', (_: unknown, socket: Duplex) =>
    connectionOf(socket).refuse('CONNECT is not supported.'),
  );
  // Without this listener, Node would ask for the body before the caller is checked. `askForBody` asks for it.
  parser.on('checkContinue', receive);
  parser.on('checkExpectation', ({ socket }) => connectionOf(socket).refuse('Unsupported Expect header.'));
  return parser;
}

const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `Request headers are too large. The limit is ${counted(headerBytesMax, 'byte')} and ${counted(headersMax, 'header')}.`,
};

/** The parser is given no other sockets than `Connection`s. */
function connectionOf(socket: Duplex): Connection {
  return socket as Connection;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
