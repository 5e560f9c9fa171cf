import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Figures, Operation, TimedOrder, TimedReport } from './timed-tenant.ts';

// Runs in a separate process, so that the noise takes no time from its measurements. Requests are sent at a fixed rate,
// without waiting for earlier responses: a service that stalls for a second delays a hundred gets, not one.
const everyMs: Readonly<Record<Operation, number>> = { get: 10, list: 50, create: 150, upload: 250 };
const answerWithinMs = 60_000;
const faultsShownMax = 5;
const prompt = 'Quiet: how long do refunds take?';

interface TimedResponse {
  readonly status: number;
  readonly body: any;
}

interface CheckedResponse extends TimedResponse {
  readonly isRight: boolean;
}

class TimedRun {
  readonly #order: TimedOrder;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #tookMs: Record<Operation, number[]> = { get: [], list: [], create: [], upload: [] };
  readonly #faults = new Set<string>();
  readonly #open = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[] = [];
  #threadId = '';
  #isUploading = false;

  constructor(order: TimedOrder) {
    this.#order = order;
  }

  async start(): Promise<void> {
    this.#threadId = (await this.#create()).body.thread.id;
    this.#send('get', async () => {
      const answer = await this.#api('GET', `/threads/${this.#threadId}`);
      const { thread, messages } = answer.body;
      return { ...answer, isRight: thread?.id === this.#threadId && messages[0].content === prompt };
    });
    this.#send('list', async () => {
      const answer = await this.#api('GET', '/threads?limit=25');
      const { threads } = answer.body;
      return { ...answer, isRight: threads?.length > 0 && threads.every(isOurs) };
    });
    this.#send('create', async () => {
      const answer = await this.#create();
      return { ...answer, isRight: answer.status === 201 && isOurs(answer.body.thread) };
    });
    this.#send('upload', () => this.#upload());
  }

  async stop(): Promise<TimedReport> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#open);
    await this.#awaitReply();
    this.#agent.destroy();
    const { get, list, create, upload } = this.#tookMs;
    return {
      figures: { get: figures(get), list: figures(list), create: figures(create), upload: figures(upload) },
      faults: [...this.#faults].slice(0, faultsShownMax),
    };
  }

  #send(operation: Operation, work: () => Promise<CheckedResponse>): void {
    const once = async () => {
      if (operation === 'upload' && this.#isUploading) return;
      const began = performance.now();
      try {
        const { isRight, status, body } = await work();
        if (!isRight) this.#faults.add(`${operation}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
        this.#tookMs[operation].push(performance.now() - began);
      } catch (error) {
        this.#faults.add(`${operation}: ${(error as Error).message}`);
      }
    };
    const send = () => {
      const sent = once();
      this.#open.add(sent);
      void sent.finally(() => this.#open.delete(sent));
    };
    send();
    this.#timers.push(setInterval(send, everyMs[operation] * this.#order.intervalFactor));
  }

  /** Checks that the quiet tenant also gets its replies, whatever the noisy one asks for. */
  async #awaitReply(): Promise<void> {
    const { body } = await this.#create();
    const deadline = performance.now() + answerWithinMs;
    while (performance.now() < deadline) {
      const answer = await this.#api('GET', `/threads/${body.thread.id}`);
      if (answer.body?.status?.state === 'idle') return;
      await pause(50);
    }
    this.#faults.add('create: no reply');
  }

  #create(): Promise<TimedResponse> {
    return this.#api('POST', '/threads', JSON.stringify({ prompt, title: 'Quiet' }));
  }

  /** Uploads one file at a time, as a person would. */
  async #upload(): Promise<CheckedResponse> {
    this.#isUploading = true;
    try {
      const path = `/console/organizations/${this.#order.organizationId}/documents?name=note.md`;
      const headers = { ...this.#order.sessionHeaders, 'content-type': 'application/octet-stream' };
      const answer = await this.#call('POST', path, headers, 'Refunds take 30 days.\n');
      return { ...answer, isRight: answer.status === 201 && answer.body.passages === 1 };
    } finally {
      this.#isUploading = false;
    }
  }

  #api(method: string, path: string, body?: string): Promise<TimedResponse> {
    const headers = {
      authorization: `Bearer ${this.#order.key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    return this.#call(method, `/api/v1${path}`, headers, body);
  }

  #call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<TimedResponse> {
    return new Promise((resolve, reject) => {
      const url = new URL(path, this.#order.baseUrl);
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const sent = request(url, { method, agent: this.#agent, headers: { ...headers, ...length } });
      const timer = setTimeout(() => sent.destroy(new Error('no answer')), answerWithinMs);
      sent.once('error', reject).once('close', () => clearTimeout(timer));
      sent.once('response', async (response) => {
        const chunks = await response.toArray().catch(reject);
        if (chunks === undefined) return;
        resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
      sent.end(body);
    });
  }
}

function isOurs({ title }: { title: string }): boolean {
  return title === 'Quiet';
}

function figures(tookMs: number[]): Figures {
  const sorted = tookMs.sort((a, b) => a - b);
  const quantile = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { count: sorted.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: sorted.at(-1) ?? 0 };
}

let run: TimedRun | undefined;
process.on('message', async (message: TimedOrder | 'stop') => {
  if (message === 'stop') {
    process.send?.(await run?.stop());
    return;
  }
  run = new TimedRun(message);
  await run.start();
  process.send?.('started');
});
