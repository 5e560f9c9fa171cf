import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../http/api.ts';
import type { ApiResponse } from '../http/conformance.ts';
import type { Asked } from './observations.ts';

/** What a caller knows about a thread. `pending` holds requests without a response. */
interface Known {
  readonly reply: string;
  title: string;
  deleted: boolean;
  pending?: { title: string } | 'deletion';
}

/** A create without a response: it may have succeeded, once. */
interface Unanswered {
  readonly body: { prompt: string; title: string };
  readonly idempotencyKey: string;
  readonly reply: string;
}

/** Every failed create is tried again later and read several times, so there should not be too many. */
const pauseAfterFailureMs = 100;

/** Records the responses that writers got, to compare them with the data after a failure. */
export class Ledger {
  readonly #replyMs: number;
  readonly #storeMayFail: boolean;
  readonly #known = new Map<string, Known>();
  #unanswered: Unanswered[] = [];
  /** Writes without a response yet, by the caller that sent them. */
  readonly #underWay = new Map<Api, number>();
  /** The number of requests with the expected response. */
  acknowledged = 0;
  /** The number of requests with the error envelope of status 500. */
  failed = 0;
  slowestMs = 0;

  /** A reply takes `replyMs`. A failed request fails the test unless `storeMayFail` is set. */
  constructor({ replyMs = 200, storeMayFail = false } = {}) {
    this.#replyMs = replyMs;
    this.#storeMayFail = storeMayFail;
  }

  /** The number of known threads. */
  get size(): number {
    return this.#known.size;
  }

  /** Writes with an unknown outcome. */
  get cutOff(): number {
    return this.#unanswered.length + [...this.#known.values()].filter(({ pending }) => pending).length;
  }

  writesUnderWay(api: Api): number {
    return this.#underWay.get(api) ?? 0;
  }

  get deletions(): number {
    return [...this.#known.values()].filter(({ deleted }) => deleted).length;
  }

  /** The replies of all threads that were not deleted. */
  get asked(): Asked[] {
    const living = [...this.#known].filter(([, { deleted }]) => !deleted);
    return living.map(([threadId, { reply }]) => ({ threadId, whole: reply }));
  }

  /** Creates threads until there are enough, or until nothing responds any more. */
  async write(api: Api, writer: string, isEnough: () => boolean): Promise<void> {
    for (let turn = 0; !isEnough(); turn += 1) {
      const outcome = await this.#writeOnce(api, `${writer}-${turn}`, turn);
      if (outcome === 'gone') return;
      if (outcome === 'failed') await pause(pauseAfterFailureMs);
    }
  }

  /** Creates and reads a thread. Renames every second one and deletes every third. */
  async #writeOnce(api: Api, name: string, turn: number): Promise<'done' | 'failed' | 'gone'> {
    const prompt = `Prompt ${name}\n#say Done \n#wait ${this.#replyMs}\n#say ${name}.`;
    const made = {
      body: { prompt, title: `Title ${name}` },
      idempotencyKey: `key-${name}`,
      reply: `Done ${name}.`,
    };
    const created = await this.#askToWrite(api, 201, () =>
      api.create(made.body, { 'idempotency-key': made.idempotencyKey }),
    );
    if (typeof created === 'string') {
      this.#unanswered.push(made);
      return created;
    }
    const { id } = created.body.thread;
    const thread: Known = { reply: made.reply, title: made.body.title, deleted: false };
    this.#known.set(id, thread);
    const read = await this.#ask(200, () => api.get(id));
    if (typeof read === 'string') return read;
    if (turn % 2 === 0) {
      const title = `${thread.title}, renamed`;
      thread.pending = { title };
      const renamed = await this.#askToWrite(api, 200, () => api.rename(id, title));
      if (typeof renamed === 'string') return renamed;
      thread.title = title;
      delete thread.pending;
    }
    if (turn % 3 !== 0) return 'done';
    thread.pending = 'deletion';
    const removed = await this.#askToWrite(api, 200, () => api.delete(id));
    if (typeof removed === 'string') return removed;
    thread.deleted = true;
    delete thread.pending;
    return 'done';
  }

  async #askToWrite(
    api: Api,
    status: number,
    send: () => Promise<ApiResponse>,
  ): Promise<ApiResponse | 'failed' | 'gone'> {
    this.#underWay.set(api, this.writesUnderWay(api) + 1);
    const answer = await this.#ask(status, send);
    this.#underWay.set(api, this.writesUnderWay(api) - 1);
    return answer;
  }

  async #ask(status: number, send: () => Promise<ApiResponse>): Promise<ApiResponse | 'failed' | 'gone'> {
    const began = performance.now();
    const answer = await send().catch(connectionLost);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    if (answer === undefined) return 'gone';
    if (answer.status === 500 && this.#storeMayFail) {
      this.failed += 1;
      return 'failed';
    }
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    this.acknowledged += 1;
    return answer;
  }

  /**
   * Retries creates without a response with the same Idempotency-Key. The result is one thread, whether or not the
   * first request succeeded.
   */
  async retryUnanswered(first: Api, second = first): Promise<void> {
    for (const { body, idempotencyKey, reply } of this.#unanswered) {
      const headers = { 'idempotency-key': idempotencyKey };
      const answers = [await first.create(body, headers), await second.create(body, headers)] as const;
      const [{ status, body: made }, again] = answers;
      assert.equal(status, 201);
      // `threadUrl` starts with the address of the responding process.
      assert.deepEqual(withoutAddress(again.body), withoutAddress(made));
      assert.ok(!this.#known.has(made.thread.id));
      this.#known.set(made.thread.id, { reply, title: body.title, deleted: false });
    }
    this.#unanswered = [];
  }

  /**
   * Fails unless the listing contains exactly the acknowledged threads. A request that was cut off has happened fully
   * or not at all.
   */
  async assertAllThere(api: Api): Promise<void> {
    const listed = new Map((await api.walk({ limit: 100 })).map((thread) => [thread.id as string, thread]));
    for (const id of listed.keys())
      assert.ok(this.#known.has(id), `${id} was not created by a known request, or twice`);
    await Promise.all(
      [...this.#known].map(async ([id, thread]) => {
        const { status, body } = await api.get(id);
        settle(thread, status, body.thread?.title);
        assert.equal(status, thread.deleted ? 404 : 200, id);
        assert.equal(listed.has(id), !thread.deleted, `${id} in the listing`);
        if (thread.deleted) return;
        assert.equal(body.thread.title, thread.title);
        assert.deepEqual(body.thread, listed.get(id));
        assert.deepEqual(
          body.messages.map(({ role }: { role: string }) => role),
          ['user', 'assistant'],
        );
      }),
    );
  }
}

/** A missing response is a valid outcome here; an unexpected response is not. */
function connectionLost(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error;
}

/** Decides from the current state whether a change without a response happened. */
function settle(thread: Known, status: number, title: string | undefined): void {
  if (thread.pending === 'deletion') thread.deleted = status === 404;
  else if (thread.pending !== undefined && title === thread.pending.title) thread.title = title;
  delete thread.pending;
}

function withoutAddress({ thread: { threadUrl, ...thread }, ...rest }: any): object {
  return { ...rest, thread };
}
