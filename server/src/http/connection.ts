import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from '../../../runtime/src/turns.ts';
import { closeInOrder } from './close-in-order.ts';
import { errorBody } from './error-response.ts';
import { ambiguityOf, createTraceId } from './request.ts';

export interface ConnectionOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Called for every request that is rejected before it reaches a handler. */
  readonly refused: (traceId: string, reason: string) => void;
  /** How long a peer may keep sending after the last response. */
  readonly lingerMs: number;
}

/** Pipelined requests that may wait on one connection before reading pauses. */
const waitingMax = 2;
/** All pipelined requests take turns as one caller, because they start before their organization is known. */
const pipelined = 'pipelined';
/** Bytes parsed at once. Node would parse all requests in a read of up to 64 KiB: 2,500 requests, which take 50 ms. */
const parsedAtOnce = 512;
const emptyLine = '\r\n\r\n';
/** Smaller pieces of a body are joined up to this length. */
const joinedBytes = 16_384;
/** A shorter body has few pieces, even if each byte arrives alone. */
const shortBodyBytes = 4096;
/** The pieces of bodies that a connection may parse in one turn: with chunks of one byte they take 2 ms. */
const piecesAtOnce = 1000;

/**
 * A connection whose requests are handled one at a time, in order: the next one starts when the kernel has accepted the
 * previous response. A peer that sends many requests without reading costs the memory of one response.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #parse: (data: Buffer) => void;
  /** The request that is being handled, or the last one handled. */
  #current: ServerResponse | undefined;
  #startedAt = 0;
  /** The request that was parsed last. */
  #latest: IncomingMessage | undefined;
  readonly #waiting: ServerResponse[] = [];
  #startsAfterParsing = false;
  #refusal: string | undefined;
  /** Whether the slice that is being parsed ends with the headers of a request. */
  #endsHead = false;
  /** The last bytes that were parsed, unless they ended headers. */
  #lastBytes = '';
  /** At least this many of the next bytes belong to the body that is arriving. They are parsed in one go. */
  #bodyBytes = 0;
  /** How many pieces of bodies were parsed since parsing last paused for a turn. */
  #pieces = 0;
  #isPaused = false;
  #isClosing = false;
  /** Whether nothing has arrived yet. */
  isUnused = true;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    // Node calls this after a response with `Connection: close`.
    socket.destroySoon = () => this.#close();
    this.#parse = socket.listeners('data')[0] as (data: Buffer) => void;
    const take = (data: Buffer) => {
      this.isUnused = false;
      this.#parseAll(data);
    };
    socket.removeAllListeners('data').on('data', take);
    const end = socket.listeners('end').at(-1) as () => void;
    // It closes our side, unless a request that was parsed is in progress.
    socket.off('end', end).on('end', () => {
      // Node would have removed it after CONNECT, because another connection may have the parser then.
      if (this.#refusal === undefined) end();
    });
  }

  get isIdle(): boolean {
    const isAnswered = this.#current === undefined || this.#current.writableFinished;
    return isAnswered && this.#waiting.length === 0;
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    // Data after a rejected request may be part of it, so it is not handled.
    if (this.#isClosing || this.#refusal !== undefined) return;
    this.#latest = request;
    const ambiguity = ambiguityOf(request);
    const bodyBytes = Number(request.headers['content-length'] ?? 0);
    // A slice that began in the body of another request may have the first bytes of this one.
    this.#bodyBytes = Math.max(0, bodyBytes - (this.#endsHead ? 0 : parsedAtOnce));
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    // Node drops what follows an upgrade request in the same slice.
    if (request.headers.upgrade !== undefined && (isChunked || !this.#endsHead))
      response.shouldKeepAlive = false;
    const isLong = bodyBytes > shortBodyBytes || isChunked;
    if (isLong) joinPieces(request, () => ++this.#pieces);
    if (ambiguity !== undefined) this.refuse(ambiguity);
    else if (this.isIdle) {
      this.#waiting.push(response);
      this.#startsAfterParsing = true;
    } else {
      if (this.#waiting.length === 0) this.#continueAfterCurrent();
      this.#waiting.push(response);
      if (this.#waiting.length === waitingMax) this.#pause();
    }
  }

  /** The current request if its body started to arrive before this time (`performance.now()`) and is incomplete. */
  requestArrivingSince(time: number): IncomingMessage | undefined {
    const request = this.#current?.req;
    return request !== undefined && !request.complete && this.#startedAt < time ? request : undefined;
  }

  /** Called after a period without reads and writes. Closes the connection unless a handler is still working. */
  timeOut(): void {
    if (this.isIdle || this.#socket.writableLength > 0) this.#socket.destroy();
  }

  /** Closes the connection once the current request is answered. */
  closeWhenIdle(): void {
    if (this.#isClosing) return;
    if (this.isIdle) this.#socket.destroy();
    else if (this.#current !== undefined) {
      this.#current.shouldKeepAlive = false;
      this.#current.once('close', () => this.#close());
    }
  }

  /** Rejects the arriving request. Earlier responses are sent first, so that responses stay in order. */
  refuse(reason: string): void {
    if (this.#isClosing || this.#refusal !== undefined) return;
    this.#refusal = reason;
    if (this.#waiting.at(-1)?.req.complete === false) this.#waiting.pop();
    const isHandled = this.#waiting.length === 0 && this.#current?.req.complete === false;
    // A request that was answered before its whole body arrived gets no second response, and an error that waits to be
    // sent is not replaced.
    if (isHandled && this.#current!.headersSent) this.#close();
    else if (isHandled && this.#current!.statusCode >= 400) this.closeWhenIdle();
    else if (isHandled || this.isIdle) this.#answerRefusal(reason);
    else if (this.#waiting.length === 0) this.#continueAfterCurrent();
  }

  #parseAll(data: Buffer): void {
    this.#parseInSlices(data);
    if (this.#startsAfterParsing) this.#startFirst();
  }

  /** Stops when enough requests wait. The rest of the data is read again when the socket resumes. */
  #parseInSlices(data: Buffer): void {
    const socket = this.#socket;
    let to = 0;
    for (let from = 0; from < data.length; from = to) {
      if (socket.destroyed || this.#isClosing || this.#refusal !== undefined) return;
      // Node resumes the socket at the end of each request.
      if (this.#isPaused || socket.isPaused()) {
        socket.pause().unshift(data.subarray(from));
        return;
      }
      if (this.#pieces > piecesAtOnce) {
        this.#continueInTurn(data.subarray(from));
        return;
      }
      const ofBody = Math.min(this.#bodyBytes, data.length - from);
      this.#bodyBytes -= ofBody;
      to = Math.min(data.length, from + (ofBody || this.#sliceLength(data, from)));
      this.#parse(from === 0 && to === data.length ? data : data.subarray(from, to));
      const lastBytes = this.#lastBytes + data.toString('latin1', Math.max(from, to - 3), to);
      this.#lastBytes = this.#endsHead ? '' : lastBytes.slice(1 - emptyLine.length);
    }
  }

  /**
   * The headers of one request are parsed at once, however long they are: in slices, 15 KB of them would take 300 µs instead
   * of 25. What follows them is parsed separately.
   */
  #sliceLength(data: Buffer, from: number): number {
    this.#endsHead = false;
    if (this.#latest?.complete === false) return parsedAtOnce;
    // The empty line may have begun in the slice before.
    const seam = this.#lastBytes + data.toString('latin1', from, from + emptyLine.length - 1);
    const inSeam = seam.indexOf(emptyLine);
    const inData = inSeam === -1 ? data.indexOf(emptyLine, from) : -1;
    this.#endsHead = inSeam !== -1 || inData !== -1;
    if (inSeam !== -1) return inSeam + emptyLine.length - this.#lastBytes.length;
    return (inData === -1 ? data.length : inData + emptyLine.length) - from;
  }

  #continueInTurn(rest: Buffer): void {
    this.#pieces = 0;
    this.#pause();
    this.#socket.unshift(rest);
    takeTurn(pipelined, () => {
      if (this.#waiting.length < waitingMax) this.#resume();
    });
  }

  /** Called once all that was read is parsed, when it is known whether requests are pipelined. */
  #startFirst(): void {
    this.#startsAfterParsing = false;
    if (this.#waiting.length > 1) takeTurn(pipelined, () => this.#startNext());
    else if (this.#waiting.length === 1) this.#startNext();
  }

  #continueAfterCurrent(): void {
    this.#current?.once('close', () => {
      if (this.#waiting.length > 0) takeTurn(pipelined, () => this.#startNext());
      else if (this.#refusal !== undefined) this.#answerRefusal(this.#refusal);
    });
  }

  #startNext(): void {
    // The previous response closed the connection, or the peer has disconnected.
    if (!this.#socket.writable) this.#waiting.length = 0;
    const next = this.#waiting.shift();
    if (next === undefined) {
      if (this.#refusal !== undefined) this.#answerRefusal(this.#refusal);
      return;
    }
    this.#current = next;
    if (!next.req.complete) this.#startedAt = performance.now();
    this.#options.handle(next.req, next);
    if (this.#waiting.length > 0 || this.#refusal !== undefined) this.#continueAfterCurrent();
    if (this.#waiting.length < waitingMax) this.#resume();
  }

  #pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
    // Node resumes the socket when a response has drained or a body is read.
    this.#socket.on('resume', this.#stayPaused);
  }

  readonly #stayPaused = (): void => {
    this.#socket.pause();
  };

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.off('resume', this.#stayPaused);
    this.#socket.resume();
  }

  #answerRefusal(reason: string): void {
    if (this.#socket.writable) {
      const traceId = createTraceId();
      const body = errorBody('INVALID_PARAMS', reason, traceId);
      this.#socket.write(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${traceId}\r\nCache-Control: no-store\r\n` +
          `Connection: close\r\n\r\n${body}`,
      );
      this.#options.refused(traceId, reason);
    }
    this.#close();
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#resume();
    closeInOrder(this.#socket, this.#options.lingerMs);
  }
}

/** Joins small pieces of a body: each byte may arrive as a chunk of its own, and a piece takes 150 bytes of memory. */
function joinPieces(request: IncomingMessage, count: () => void): void {
  const push = request.push.bind(request);
  let joined = Buffer.alloc(0);
  let used = 0;
  const flush = () => {
    const bytes = joined.subarray(0, used);
    used = 0;
    // A short piece would keep the whole buffer in memory.
    return bytes.length === 0 || push(bytes.length < joinedBytes / 2 ? Buffer.from(bytes) : bytes);
  };
  request.push = (piece: Buffer | null) => {
    count();
    const isSmall = piece !== null && piece.length <= joinedBytes / 2;
    const takesMore = isSmall && used + piece.length <= joinedBytes ? true : flush();
    if (!isSmall) return push(piece) && takesMore;
    if (used === 0) joined = Buffer.allocUnsafe(joinedBytes);
    used += piece.copy(joined, used);
    return takesMore;
  };
}
