import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** How soon a browser opens a broken stream again. */
const retryMs = 1000;
/** How long a peer that does not read is waited for at the end. */
const lingerMs = 500;

/** Server-sent events to one peer. It keeps up to one event that was not sent: whoever writes awaits the peer. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #closed: AbortSignal;

  /** Takes the answer over from the framework: status and headers are sent at once. */
  constructor(reply: FastifyReply, closed: AbortSignal) {
    reply.hijack();
    this.#response = reply.raw;
    this.#closed = closed;
    this.#response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // A proxy that gathers what it passes on would hold back what is to be seen now.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${retryMs}\n\n`);
  }

  /** Resolves when the peer can take more, or the stream is closed. */
  async send(event: string, data: object): Promise<void> {
    if (this.#closed.aborted || this.#response.writableEnded) return;
    if (!this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)) await this.#drained();
  }

  /** Shows the peer, and what is between, that the stream lives. One that has not read what there is needs no telling. */
  beat(): void {
    const { writableNeedDrain, writableEnded } = this.#response;
    if (!writableNeedDrain && !writableEnded) this.#response.write(': still here\n\n');
  }

  end(): void {
    if (this.#response.destroyed) return;
    const giveUp = setTimeout(() => this.#response.destroy(), lingerMs);
    this.#response.once('close', () => clearTimeout(giveUp));
    this.#response.end();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#response.removeListener('drain', done);
        this.#closed.removeEventListener('abort', done);
        resolve();
      };
      this.#response.once('drain', done);
      this.#closed.addEventListener('abort', done);
      if (this.#closed.aborted) done();
    });
  }
}
