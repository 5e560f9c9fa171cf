import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { chunksInTurns, type Piece, type Pieces } from '../pieces.ts';

/** How soon a browser reconnects after a broken stream. */
const retryMs = 1000;
/** How long the end of a stream waits for a peer that does not read. */
const lingerMs = 500;
/** Server-sent events to one peer. It buffers one chunk at a time: senders wait for the peer. */
export class EventStream {
  readonly #organizationId: string;
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
  constructor(organizationId: string, reply: FastifyReply, closing: AbortController, writeTimeoutMs: number) {
    this.#organizationId = organizationId;
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
  async send(event: string, data: Pieces): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for await (const chunk of chunksInTurns(this.#organizationId, eventPieces(event, data))) {
      if (!this.#isClosed) await this.#write(chunk);
      // Do not load another chunk that nobody reads.
      if (this.#isClosed) return;
    }
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

  /** Waits for the callback of the write and not for `drain`, which a response can miss although everything was sent. */
  #write(chunk: Buffer): Promise<void> {
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

async function* eventPieces(event: string, data: Pieces): AsyncGenerator<Piece> {
  yield `event: ${event}\ndata: `;
  yield* data;
  yield '\n\n';
}
