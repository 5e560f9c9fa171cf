import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model provider whose replies end only when the test says so. */
export class HeldModel {
  readonly #server = createServer((request, response) => {
    request.resume().once('end', () => this.#asked.push(response));
  });
  #asked: ServerResponse[] = [];

  /** Starts to listen. Returns the environment of a service that uses it. */
  async start(): Promise<Record<string, string>> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return {
      SKEIN_MODEL: 'openai-compatible/held',
      SKEIN_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
    };
  }

  /** The number of open requests for replies. */
  get asked(): number {
    return this.#asked.length;
  }

  /** Sends a piece of text to every open request. */
  say(text: string): void {
    for (const response of this.#asked) send(response, [chunk({ role: 'assistant', content: text }, null)]);
  }

  /** Sends the text and completes every open request. */
  answer(text: string): void {
    this.say(text);
    for (const response of this.#asked.splice(0)) {
      send(response, [chunk({}, 'stop'), '[DONE]']);
      response.end();
    }
  }

  /** Rejects every open request with a permanent error. */
  refuse(): void {
    for (const response of this.#asked.splice(0)) response.writeHead(400).end();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function send(response: ServerResponse, frames: readonly string[]): void {
  if (!response.headersSent) response.setHeader('content-type', 'text/event-stream');
  response.write(frames.map((frame) => `data: ${frame}\n\n`).join(''));
}

function chunk(delta: object, reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return JSON.stringify({ id: 'held', object: 'chat.completion.chunk', created: 1, model: 'held', choices });
}
