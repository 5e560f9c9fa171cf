import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { openStream, readHeaders } from '../http/request.ts';
import { waitMsMax } from '../service/eventually.ts';
import { ConsoleClient } from './console-client.ts';

interface StreamEvent {
  readonly event: string;
  readonly data: any;
}

/** A window that shows a thread: it reads the stream and keeps what a page would show. */
export class ThreadStream {
  readonly headers: Headers;
  readonly events: StreamEvent[] = [];
  /** The number of heartbeats received. They are not in `events`. */
  beats = 0;
  retryMs: number | undefined;
  /** The view after applying every event. */
  view: any;
  readonly #controller: AbortController;
  readonly #reading: Promise<void>;
  #news: () => void = () => {};
  #ended = false;

  private constructor(response: IncomingMessage, controller: AbortController) {
    this.headers = readHeaders(response);
    this.#controller = controller;
    this.#reading = this.#read(response).catch((error: NodeJS.ErrnoException) => {
      // The stream is cut off if the service is killed or the test closes it.
      assert.ok(error.code === 'ECONNRESET' || error.name === 'AbortError', String(error));
    });
    this.#reading.finally(() => {
      this.#ended = true;
      this.#news();
    });
  }

  /** `path` is under `/console`. */
  static async open(client: ConsoleClient, path: string): Promise<ThreadStream> {
    const controller = new AbortController();
    const headers = { accept: 'text/event-stream', ...client.cookieHeader() };
    const response = await openStream(new URL(`/console${path}`, client.baseUrl), headers, controller.signal);
    if (response.statusCode !== 200) assert.fail(`${response.statusCode} ${await text(response)}`);
    return new ThreadStream(response, controller);
  }

  get reply(): any {
    return this.view?.messages.at(-1);
  }

  /** Waits until the condition holds. */
  async until(condition: (stream: this) => boolean, withinMs = waitMsMax): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!condition(this)) {
      // A view can have megabytes, so it is described only if the test fails.
      if (this.#ended) assert.fail(`the stream has ended: ${JSON.stringify(this.events.at(-1))}`);
      if (Date.now() >= deadline) assert.fail(`gave up; shown is ${JSON.stringify(this.view)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#news = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Resolves when the service has ended the stream. */
  async ended(): Promise<void> {
    await this.#reading;
  }

  /** Closes the window. */
  async close(): Promise<void> {
    this.#controller.abort();
    await this.#reading;
  }

  async #read(response: IncomingMessage): Promise<void> {
    let rest = '';
    for await (const part of response.setEncoding('utf8')) {
      // A long event is split once, when it is complete, and not with every chunk.
      const completes = part.includes('\n\n') || (part.startsWith('\n') && rest.endsWith('\n'));
      rest += part;
      if (!completes) continue;
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) this.#take(block.split('\n'));
      this.#news();
    }
    assert.equal(rest, '', 'nothing is sent by halves');
  }

  #take(lines: readonly string[]): void {
    const readField = (field: string) =>
      lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
    const retry = readField('retry');
    if (retry !== undefined) this.retryMs = Number(retry);
    const event = readField('event');
    if (event === 'beat') this.beats += 1;
    if (event === undefined || event === 'beat') return;
    const data = JSON.parse(readField('data') ?? 'null');
    this.events.push({ event, data });
    if (event === 'view') this.view = data;
    if (event === 'progress') this.#progress(data);
  }

  #progress({ messageId, status, stepsFrom, steps, textFrom, text }: any): void {
    const reply = this.view.messages.find(({ id }: any) => id === messageId);
    assert.ok(reply, 'progress is of a reply that was shown');
    assert.ok(stepsFrom <= reply.steps.length && textFrom <= reply.content.length, 'it leaves no gap');
    reply.status = status;
    reply.steps = [...reply.steps.slice(0, stepsFrom), ...steps];
    reply.content = reply.content.slice(0, textFrom) + text;
  }
}

/** The same session, at another node or after a restart on another port. */
export function clientAt(baseUrl: string, { cookies, csrfToken, session }: ConsoleClient): ConsoleClient {
  const client = new ConsoleClient(baseUrl);
  for (const [name, value] of cookies) client.cookies.set(name, value);
  return Object.assign(client, { csrfToken, session });
}
