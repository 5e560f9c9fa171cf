import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { takeTurn } from '../../../../runtime/src/turns.ts';
import { ambiguityOf } from './ambiguity.ts';
import { closeInOrder } from './close-in-order.ts';
import { findMessageEnd } from './message-end.ts';

export interface ConnectionOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** The body of the response to a request that reaches no handler. Called once for each. */
  readonly refuse: (reason: string) => { readonly traceId: string; readonly body: string };
  readonly timeouts: Timeouts;
}

export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection may stay open between two requests. */
  readonly idleMs: number;
  /** How long a peer may neither send nor read anything. */
  readonly silenceMs: number;
  /** How long a peer may keep sending after the last response. */
  readonly lingerMs: number;
}

type State =
  /** Nothing has arrived yet. */
  | 'unused'
  | 'idle'
  /** A part of a request's headers has arrived. */
  | 'parsing'
  /** From the end of a request's headers until its response is sent and its body has arrived. */
  | 'answering'
  /** The same, for the last request of the connection. */
  | 'answering last'
  /** Our side is closed, or about to be. What arrives is discarded. */
  | 'closing';

/** All pipelined requests take turns as one caller, because they start before their organization is known. */
const pipelined = 'pipelined';
/**
 * What is parsed in one turn. Node makes an event of each chunk of a body, however small: a read of 64 KiB has up to 10,000
 * chunks, which take 20 ms.
 */
const piecesAtOnce = 1000;
export const malformed = 'Malformed HTTP request.';
const tooSlow = 'Timed out waiting for the request.';

/**
 * What Node's HTTP server takes for a socket. It stands in front of the accepted socket and passes on the bytes of one request
 * at a time, so that requests are parsed and handled one by one, in order: the next one when the kernel has accepted the
 * previous response. A peer that sends many requests without reading costs the memory of one response, and the time to parse
 * one request. Node would parse all requests in a read of 64 KiB at once: 2,500 requests, which take 50 ms.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  #state: State = 'unused';
  /** When the state began, or the current request got more time (`performance.now()`). */
  #since = performance.now();
  /** How long the current request may take to arrive. */
  #arrivalMs: number;
  #response: ServerResponse | undefined;
  /** What has arrived and is not parsed yet. The socket is paused while there is something. */
  #rest: Buffer | undefined;
  /** The last bytes that were parsed, of which an empty line may be the continuation. */
  #lastBytes = '';
  /** How many of the next bytes belong to a body with a Content-Length. */
  #bodyBytes = 0;
  /** How many pieces were parsed in this turn. */
  #pieces = 0;
  #isWaitingForTurn = false;
  #discard: (() => void) | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    super({ decodeStrings: false, autoDestroy: false });
    this.#socket = socket;
    this.#options = options;
    this.#arrivalMs = options.timeouts.requestMs;
    this.on('error', () => {});
    // Node pauses it while nobody reads a body. What it has buffered is passed on first.
    this.on('resume', () => process.nextTick(() => this.#parse()));
    socket
      .on('data', (data) => this.#receive(data))
      .on('end', () => this.#leave())
      .on('close', () => this.destroy())
      .on('error', () => {})
      // A listener that is passed to `setTimeout` would be called once, although a connection can be silent several times.
      .on('timeout', () => this.#endSilence())
      .setTimeout(options.timeouts.silenceMs);
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /** Whether the peer has closed its side. It may still read the response. */
  get hasLeft(): boolean {
    return this.#socket.readableEnded || this.#socket.destroyed;
  }

  get isUnused(): boolean {
    return this.#state === 'unused';
  }

  /** Called when the headers of a request are parsed. */
  accept(request: IncomingMessage, response: ServerResponse): void {
    if (this.#state === 'closing') return;
    this.#enter('answering');
    this.#response = response;
    this.#arrivalMs = this.#options.timeouts.requestMs;
    this.#bodyBytes = Number(request.headers['content-length'] ?? 0);
    response.on('close', this.#settle);
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) return void this.refuse(ambiguity);
    const hasBody = this.#bodyBytes > 0 || request.headers['transfer-encoding'] !== undefined;
    if (hasBody || this.#rest === undefined) return void this.#options.handle(request, response);
    // Many peers may send pipelined requests at the same moment.
    takeTurn(pipelined, () => {
      if (this.#state !== 'closing' && !this.destroyed) this.#options.handle(request, response);
    });
  }

  /** Measures the time limit of the body that arrives from now, and makes it this many times as long. */
  restartTimeLimit(factor = 1): void {
    this.#arrivalMs = factor * this.#options.timeouts.requestMs;
    this.#since = performance.now();
  }

  /** Rejects the request that is arriving. */
  refuse(reason: string): void {
    if (this.#state === 'closing') return;
    const response = this.#response;
    if (response !== undefined) {
      // A request that was answered before its whole body arrived gets no second response, and an error that waits to be
      // sent is not replaced.
      if (response.closed) return void this.#close();
      if (response.headersSent || response.statusCode >= 400) return void this.closeWhenIdle();
    }
    if (this.#socket.writable) {
      const { traceId, body } = this.#options.refuse(reason);
      this.#socket.write(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${traceId}\r\nCache-Control: no-store\r\n` +
          `Connection: close\r\n\r\n${body}`,
      );
    }
    this.#close();
  }

  /** Closes the connection once the current request is answered. */
  closeWhenIdle(): void {
    if (this.#state === 'closing' || this.#state === 'answering last') return;
    const response = this.#response;
    // A reset could overtake the last response if something is unread.
    if (this.#rest !== undefined && response === undefined) return void this.#close();
    if (response === undefined || response.closed) return void this.#socket.destroy();
    this.#state = 'answering last';
    if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /** Ends what takes too long. Called regularly. */
  checkTime(): void {
    const { headersMs, idleMs, silenceMs } = this.#options.timeouts;
    const ms = performance.now() - this.#since;
    if (this.#state === 'unused' && ms > silenceMs) this.#socket.destroy();
    else if (this.#state === 'idle' && ms > idleMs) this.#socket.destroy();
    else if (this.#state === 'parsing' && ms > headersMs) this.refuse(tooSlow);
    else if (this.#response?.req.complete === false && ms > this.#arrivalMs) this.refuse(tooSlow);
  }

  #enter(state: State): void {
    this.#state = state;
    this.#since = performance.now();
  }

  #receive(data: Buffer): void {
    if (this.#state === 'closing') return void this.#discard?.();
    this.#rest = this.#rest === undefined ? data : Buffer.concat([this.#rest, data]);
    this.#pieces = 0;
    this.#parse();
  }

  /** Passes on as much as may be parsed now: the rest of the current request, or the next one. */
  #parse(): void {
    for (;;) {
      const { req } = this.#response ?? {};
      const isHeld = req?.complete === true || this.readableLength > 0 || this.#isWaitingForTurn;
      if (this.#rest === undefined || isHeld || this.#state === 'closing' || this.destroyed) break;
      if (this.#pieces >= piecesAtOnce) return void this.#parseInTurn();
      if (req === undefined && this.#state !== 'parsing') this.#enter('parsing');
      const slice = this.#takeSlice(this.#rest, req !== undefined);
      this.push(slice);
      this.#settleLateBody();
    }
    this.#settleLateBody();
    if (this.#state === 'closing') return;
    if (this.#rest !== undefined) this.#socket.pause();
    else if (this.#socket.readableEnded) this.#leave();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** A body may arrive, or be read, after its response. */
  #settleLateBody(): void {
    if (this.#response?.closed) this.#settle();
  }

  #parseInTurn(): void {
    this.#pieces = 0;
    this.#isWaitingForTurn = true;
    this.#socket.pause();
    takeTurn(pipelined, () => {
      this.#isWaitingForTurn = false;
      this.#parse();
    });
  }

  /** The next bytes to parse. They never reach into the next request. */
  #takeSlice(rest: Buffer, isBody: boolean): Buffer {
    let length = Math.min(this.#bodyBytes, rest.length);
    if (length > 0) {
      this.#bodyBytes -= length;
      this.#pieces += 1;
    } else {
      const found = findMessageEnd(rest, this.#lastBytes, isBody ? piecesAtOnce : Number.POSITIVE_INFINITY);
      length = found.length;
      this.#pieces += found.lines + 1;
      this.#lastBytes = found.isEnd ? '' : found.lastBytes;
    }
    this.#rest = length === rest.length ? undefined : rest.subarray(length);
    return length === rest.length ? rest : rest.subarray(0, length);
  }

  /** Called when a response is sent, and when the body of its request has arrived. */
  readonly #settle = (): void => {
    if (this.#state === 'answering last') return void this.#close();
    const response = this.#response;
    if (response?.closed !== true || !response.req.complete || this.#state === 'closing') return;
    this.#response = undefined;
    this.#enter('idle');
    if (this.#rest !== undefined) this.#parseInTurn();
    else if (this.#socket.readableEnded) this.#leave();
  };

  /**
   * The peer has closed its side. Node learns of it once the requests before that are answered. A body that was cut off is
   * rejected here: behind an Upgrade header, Node would close the connection without a response.
   */
  #leave(): void {
    this.emit('left');
    const { req } = this.#response ?? {};
    if (this.#rest !== undefined || req?.complete === true || this.#state === 'closing') return;
    if (req === undefined) {
      if (!this.readableEnded) this.push(null);
    } else if (this.readableLength === 0) this.refuse(malformed);
  }

  /** The peer reads nothing, or never sent anything. */
  #endSilence(): void {
    if (this.#socket.writableLength > 0) this.#socket.destroy();
  }

  #close(): void {
    if (this.#state === 'closing') return;
    this.#enter('closing');
    this.#rest = undefined;
    this.#discard = closeInOrder(this.#socket, this.#options.timeouts.lingerMs);
  }

  /** Nothing: what arrives is pushed. */
  override _read(): void {}

  override _write(
    chunk: Buffer | string,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    if (this.#state === 'closing') done();
    else this.#socket.write(chunk, encoding, done);
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const last = chunks.length - 1;
    this.#socket.cork();
    for (const [place, { chunk, encoding }] of chunks.entries())
      this._write(chunk, encoding, place === last ? done : () => {});
    this.#socket.uncork();
  }

  /** Node ends the connection after a response with `Connection: close`. */
  override _final(done: () => void): void {
    this.#close();
    done();
  }

  override _destroy(_error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(null);
  }
}
