import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider of a language model whose every reply ends when the test says so, and not before. */
export class HeldModel {
  readonly #server = createServer((request, response) => {
    request.resume().once('end', () => this.#asked.push(response));
  });
  #asked: ServerResponse[] = [];

  /** Listens, and answers the environment of a service that asks it. */
  async start(): Promise<Record<string, string>> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return {
      SKEIN_MODEL: 'openai-compatible/held',
      SKEIN_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
    };
  }

  /** How many replies are being asked for. */
  get asked(): number {
    return this.#asked.length;
  }

  /** All that were asked for are answered. */
  answer(text: string): void {
    const frames = [chunk({ role: 'assistant', content: text }, null), chunk({}, 'stop'), '[DONE]'];
    for (const response of this.#asked.splice(0)) {
      response.setHeader('content-type', 'text/event-stream');
      response.end(frames.map((frame) => `data: ${frame}\n\n`).join(''));
    }
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function chunk(delta: object, reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return JSON.stringify({ id: 'held', object: 'chat.completion.chunk', created: 1, model: 'held', choices });
}
