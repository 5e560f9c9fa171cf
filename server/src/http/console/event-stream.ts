import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** How soon a browser reconnects after a broken stream. */
const retryMs = 1000;
/** How long the end of a stream waits for a peer that does not read. */
const lingerMs = 500;
/** Characters given to the connection at once, at most 48 KiB: what a peer that does not read makes the process keep. */
const chunkLength = 16_384;

/** Server-sent events to one peer. It buffers one chunk at a time: senders wait for the peer. */
export class EventStream {
  readonly #reply: FastifyReply;
  readonly #response: ServerResponse;
  readonly #closing: AbortController;
  readonly #writeTimeoutMs: number;
  /** Whether an event is half sent: nothing else may be written in between. */
  #isSending = false;

  /**
   * Takes the response over from the framework, and sends status and headers at once. Disconnects the peer and aborts
   * `closing` if it takes no chunk for `writeTimeoutMs`.
   */
  constructor(reply: FastifyReply, closing: AbortController, writeTimeoutMs: number) {
    reply.hijack();
    this.#reply = reply;
    this.#response = reply.raw;
    this.#closing = closing;
    this.#writeTimeoutMs = writeTimeoutMs;
    this.#response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Tells proxies not to buffer the stream.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${retryMs}\n\n`);
  }

  /**
   * Resolves when the peer can take more, or the stream is closed; an event may then have been sent in part, which browsers
   * discard. Does nothing while another event is being sent.
   */
  async send(event: string, data: Iterable<string> | AsyncIterable<string>): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    await this.#write(`event: ${event}\ndata: `);
    for await (const piece of data) {
      if (this.#isClosed) return;
      await this.#write(piece);
    }
    await this.#write('\n\n');
    this.#isSending = false;
  }

  /** Shows the peer and proxies that the stream is alive. */
  beat(): void {
    if (this.#isSending || this.#isClosed || this.#response.writableNeedDrain) return;
    this.#response.write(': still here\n\n');
  }

  end(): void {
    if (this.#response.destroyed) return;
    const giveUp = setTimeout(() => this.#response.destroy(), lingerMs);
    this.#response.once('close', () => clearTimeout(giveUp));
    this.#response.end();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted || this.#response.writableEnded || this.#response.destroyed;
  }

  async #write(piece: string): Promise<void> {
    for (let from = 0, to = 0; from < piece.length && !this.#isClosed; from = to) {
      to = from + chunkLength;
      // Both halves of a character go into one chunk.
      if (isHighSurrogate(piece.charCodeAt(to - 1))) to += 1;
      await this.#writeChunk(piece.slice(from, to));
    }
  }

  /** Waits for the callback of the write and not for `drain`, which a response can miss although everything was sent. */
  #writeChunk(chunk: string): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (this.#response.write(chunk, done)) return done();
      timer = setTimeout(() => {
        this.#reply.log.info({ trace_id: this.#reply.request.id }, 'stream closed: its peer does not read');
        this.#response.destroy();
        this.#closing.abort();
      }, this.#writeTimeoutMs);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
