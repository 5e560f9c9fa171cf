import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { jittered } from '../../../client/src/retries.ts';
import type { SkeinOptions } from '../../../client/src/skein.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { sharedWorld, type World } from '../../harness/world/world.ts';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';
import { type Client, packedClient } from './packed.ts';

const failure = (status: number, code: string) => ({
  status,
  body: JSON.stringify({ error: { code, message: `This is ${code}.`, trace_id: 'trace-1' } }),
});
const html = (status: number) => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<h1>Who  are\nyou?</h1>',
});

describe('A call that fails', () => {
  let world: World;
  let proxy: FaultyProxy;
  let client: Client;
  before(async () => {
    world = await sharedWorld();
    proxy = await FaultyProxy.start(world.service.baseUrl);
    client = await packedClient();
  });
  after(async () => {
    await proxy.close();
  });

  const openClient = (baseUrl: string, options: Partial<SkeinOptions> = {}) =>
    new client.Skein({ baseUrl, apiKey: world.adaKey.key, maxRetryDelayMs: 20, ...options } as SkeinOptions);
  /** The outcome of one listing on an address with these faults, and how often it was tried. */
  const listOver = async (faults: Fault[], options: Partial<SkeinOptions> = {}) => {
    const address = proxy.address(faults);
    const outcome = await openClient(address, options)
      .threads.list()
      .page()
      .catch((error) => error);
    return { outcome, tries: proxy.requestsTo(address).length };
  };

  it('has a class, code, status, message and trace ID', async () => {
    const classes = [
      [400, 'INVALID_PARAMS', client.InvalidParamsError],
      [401, 'UNAUTHORIZED', client.UnauthorizedError],
      [403, 'FORBIDDEN', client.ForbiddenError],
      [404, 'NOT_FOUND', client.NotFoundError],
      [429, 'RATE_LIMITED', client.RateLimitedError],
      [500, 'INTERNAL_ERROR', client.InternalError],
      [418, 'TEAPOT', client.SkeinError],
    ] as const;
    for (const [status, code, expected] of classes) {
      const { outcome } = await listOver([failure(status, code)], { retries: 0 });
      assert.equal(outcome.constructor, expected, code);
      assert.equal(outcome.name, expected.name);
      assert.ok(outcome instanceof client.SkeinError && outcome instanceof Error);
      const { message, traceId } = outcome;
      assert.deepEqual([outcome.code, outcome.status], [code, status]);
      assert.deepEqual([message, traceId], [`This is ${code}.`, 'trace-1']);
    }
  });

  it('is not retried if the request is invalid', async () => {
    for (const status of [400, 401, 403, 404, 409, 418]) {
      const { outcome, tries } = await listOver([failure(status, 'SOME_CODE')]);
      assert.equal(outcome.status, status);
      assert.equal(tries, 1, `${status}`);
    }
  });

  it('is retried after transient failures', async () => {
    const faults: Fault[] = [429, 500, 502, 503, 504].map((status) => failure(status, 'SOME_CODE'));
    for (const fault of [...faults, html(502), 'drop', 'cut', 'lose the answer'] satisfies Fault[]) {
      const { outcome, tries } = await listOver([fault]);
      assert.ok(Array.isArray(outcome.threads), inspect(fault));
      assert.equal(tries, 2, inspect(fault));
    }
  });

  it('is retried up to the configured number of times, and then reports the last reason', async () => {
    const faults: Fault[] = [...Array(8).fill(failure(500, 'INTERNAL_ERROR')), html(503)];
    for (const retries of [0, 1, 3]) {
      const { outcome, tries } = await listOver(faults, { retries });
      assert.equal(outcome.code, 'INTERNAL_ERROR');
      assert.equal(tries, retries + 1);
    }
    const { outcome, tries } = await listOver(faults, { retries: 8 });
    assert.equal(outcome.status, 503);
    assert.equal(tries, 9);
  });

  it('reports why there was no response', async () => {
    const { outcome } = await listOver(['drop'], { retries: 0 });
    assert.ok(outcome instanceof client.ConnectionError);
    assert.equal(outcome.code, 'CONNECTION');
    assert.match(outcome.message, /^GET http:.*\/api\/v1\/threads got no response: .*(socket|ECONNRESET)/i);
    assert.ok(outcome.cause);
    const closed = await FaultyProxy.start(world.service.baseUrl);
    await closed.close();
    const refused = await openClient(closed.origin)
      .threads.get('thr_1')
      .catch((error) => error);
    assert.match(refused.message, /ECONNREFUSED/);
  });

  it("reports a proxy's response as such", async () => {
    const { outcome } = await listOver([html(404)]);
    assert.ok(
      outcome instanceof client.UnexpectedResponseError && !(outcome instanceof client.NotFoundError),
    );
    assert.equal(outcome.status, 404);
    assert.match(outcome.message, /404 \(text\/html\).*: <h1>Who are you\?<\/h1>$/);
    const bodies = [
      '',
      '{',
      '[]',
      '{"items":[]}',
      'null',
      '{"threads":"none","nextCursor":null}',
      '{"threads":[]}',
    ];
    for (const body of bodies) {
      const { outcome: empty, tries } = await listOver([{ status: 200, body }]);
      assert.equal(empty.code, 'UNEXPECTED_RESPONSE', body);
      assert.equal(tries, 1);
    }
    assert.equal((await listOver([html(502)], { retries: 0 })).outcome.code, 'INTERNAL_ERROR');
  });

  it('reports a response without the fields of the operation', async () => {
    const over = (body: object) =>
      openClient(proxy.address([{ status: 200, body: JSON.stringify(body) }])).threads;
    const thread = { id: 'thr_1', title: 'Refunds', createdAt: '2026-11-15T09:30:00.000Z' };
    const status = { state: 'idle' };
    const message = {
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: '',
      steps: [],
      sources: [],
    };
    const messages = [
      null,
      { ...message, content: null },
      { ...message, steps: 5 },
      { ...message, steps: [null] },
      { ...message, sources: ['https://example.org'] },
    ];
    const calls = [
      () => over({ thread: null }).create({ prompt: 'Hello' }),
      () => over({ thread: {} }).ask('Hello'),
      () => over({ messages: [], status }).get('thr_1'),
      () => over({ thread, messages: null, status }).get('thr_1'),
      () => over({ thread, messages: [] }).wait('thr_1'),
      ...messages.map((message) => () => over({ thread, messages: [message], status }).wait('thr_1')),
      () =>
        over({ threads: [null], nextCursor: null })
          .list()
          .page(),
      () => over({ thread, messages: [message], status: {} }).wait('thr_1'),
      () => over({ thread: { id: 'thr_1' }, messages: [message], status }).wait('thr_1'),
      () =>
        over({ threads: [{ id: 'thr_1' }], nextCursor: null })
          .list()
          .page(),
      () =>
        over({ threads: [{ ...thread, accountId: 5 }], nextCursor: null })
          .list()
          .page(),
      () => over({ thread: 5 }).rename('thr_1', 'Refunds'),
      () =>
        over({ threads: [{ ...thread, updatedAt: 5 }], nextCursor: null })
          .list()
          .page(),
      () => over({ deleted: 'no' }).delete('thr_1'),
      () => over({ id: 5, deleted: true }).delete('thr_1'),
    ];
    for (const call of calls) await assert.rejects(call, { code: 'UNEXPECTED_RESPONSE' }, String(call));
  });

  it('reports a list that would never end', async () => {
    const page = { status: 200, body: '{"threads":[],"nextCursor":"again","truncated":false}' };
    const address = proxy.address([page, page, page]);
    const pages: unknown[] = [];
    const walk = async () => {
      for await (const one of openClient(address).threads.list().pages()) pages.push(one);
    };
    await assert.rejects(walk, { code: 'UNEXPECTED_RESPONSE', message: /never end/ });
    assert.deepEqual([pages.length, proxy.requestsTo(address).length], [2, 2]);
  });

  it('stops reading a response that never ends', async () => {
    const blanks = new Uint8Array(1024 * 1024).fill(0x20);
    for (const start of ['', '{"threads":[],"nextCursor":null,"truncated":false}']) {
      let pulled = 0;
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
        pull(controller) {
          pulled += 1;
          controller.enqueue(blanks);
        },
      });
      const { threads } = openClient('http://skein.invalid', { fetch: async () => new Response(body) });
      await assert.rejects(threads.list().page(), { code: 'UNEXPECTED_RESPONSE' }, start);
      assert.ok(pulled < 200, `${pulled} MiB`);
    }
  });

  it('reads the text of a response whose body is not a web stream', async () => {
    const page = { threads: [], nextCursor: null, truncated: false };
    const response = Object.defineProperty(Response.json(page), 'body', { value: Readable.from([]) });
    const { threads } = openClient('http://skein.invalid', { fetch: async () => response });
    assert.deepEqual((await threads.list().page()).threads, []);
  });

  it('waits as long as Retry-After says, in seconds or as a date', async () => {
    for (const header of [() => '1', () => new Date(Date.now() + 2000).toUTCString()]) {
      const value = header();
      const startedAt = performance.now();
      const { outcome, tries } = await listOver(
        [{ ...failure(429, 'RATE_LIMITED'), headers: { 'retry-after': value } }],
        { maxRetryDelayMs: 5_000 },
      );
      assert.ok(Array.isArray(outcome.threads), value);
      assert.equal(tries, 2);
      // A lower bound is a promise, not a measurement: a date has whole seconds, so that one may be lost.
      assert.ok(performance.now() - startedAt > 950, 'it has waited');
    }
  });

  it('fails at once if it would have to wait too long', async () => {
    const limited = (seconds: string) => ({
      ...failure(429, 'RATE_LIMITED'),
      headers: { 'retry-after': seconds },
    });
    const tooLong = await listOver([limited('31')], { maxRetryDelayMs: 30_000 });
    assert.ok(tooLong.outcome instanceof client.RateLimitedError);
    assert.deepEqual([tooLong.outcome.retryAfterSeconds, tooLong.tries], [31, 1]);
    const absurd = await listOver([limited('9'.repeat(400))], { maxRetryDelayMs: 30_000 });
    assert.deepEqual([absurd.outcome.retryAfterSeconds, absurd.tries], [Number.MAX_SAFE_INTEGER, 1]);
    const tooLate = await listOver([limited('10')], { maxRetryDelayMs: 30_000, timeoutMs: 5_000 });
    assert.equal(tooLate.outcome.retryAfterSeconds, 10, 'the refusal is reported, not a timeout');
    assert.equal(tooLate.tries, 1);
    for (const odd of ['soon', '-5', '1.5', '5, 5']) {
      const { outcome, tries } = await listOver([limited(odd), limited(odd)], { retries: 1 });
      assert.deepEqual([outcome.retryAfterSeconds, tries], [undefined, 2], odd);
    }
  });

  it('spreads its retries with exponential backoff and full jitter', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((index) => jittered(index, 5_000, () => 1)),
      [500, 1000, 2000, 4000, 5000],
    );
    assert.equal(
      jittered(3, 5_000, () => 0),
      0,
    );
    assert.equal(
      jittered(3, 5_000, () => 0.5),
      2000,
    );
    const many = Array.from({ length: 1000 }, () => jittered(1, 5_000));
    assert.ok(Math.min(...many) < 100 && Math.max(...many) > 900, 'full jitter');
  });

  it('creates one thread however often it is retried, and reports its idempotency key', async () => {
    const address = proxy.address(['lose the answer', 'cut', 'lose the answer', html(500)]);
    const accountId = 'acct_once';
    const { thread } = await openClient(address).threads.create({ prompt: 'Once', accountId });
    const listed = await world.ada.walk({ accountId });
    assert.deepEqual(
      listed.map(({ id }) => id),
      [thread.id],
    );
    const keys = proxy.requestsTo(address).map(({ headers }) => headers['idempotency-key']);
    assert.equal(keys.length, 5);
    assert.equal(new Set(keys).size, 1);

    const lost = proxy.address(['lose the answer']);
    const body = { prompt: 'Twice', accountId: 'acct_twice' };
    const error = await openClient(lost, { retries: 0 })
      .threads.create(body)
      .catch((failed) => failed);
    assert.ok(error instanceof client.ConnectionError && error.idempotencyKey);
    const { idempotencyKey } = error;
    await openClient(lost).threads.create(body, { idempotencyKey });
    assert.equal((await world.ada.walk({ accountId: body.accountId })).length, 1);
    const another = await openClient(lost).threads.create(body);
    assert.ok(another.thread.id, 'each call has a key of its own');
    assert.equal((await world.ada.walk({ accountId: body.accountId })).length, 2);
  });

  it('deletes a thread although the response was lost, and reports a thread that never existed as missing', async () => {
    const { threads } = openClient(proxy.address(['pass', 'lose the answer']));
    const { thread } = await threads.create({ prompt: 'Away' });
    assert.deepEqual(await threads.delete(thread.id), { id: thread.id, deleted: true });
    await assert.rejects(threads.delete(thread.id), client.NotFoundError);
    assert.equal((await world.ada.get(thread.id)).status, 404);
  });

  it('stops when its signal aborts: before the request, during it, and between retries', async () => {
    const reason = new Error('enough');
    const aborted = { name: 'AbortError', code: 'ABORTED', cause: reason };
    const unused = proxy.address();
    const { threads } = openClient(unused);
    const signal = AbortSignal.abort(reason);
    const calls = [
      threads.create({ prompt: 'x' }, { signal }),
      threads.get('thr_1', { signal }),
      threads.list({ signal }).page(),
      threads.rename('thr_1', 'x', { signal }),
      threads.delete('thr_1', { signal }),
      threads.ask('x', { signal }),
      threads.wait('thr_1', { signal }),
    ];
    for (const call of calls) await assert.rejects(call, aborted);
    assert.deepEqual(proxy.requestsTo(unused), []);

    const silent = proxy.address(['hang']);
    const onItsWay = new AbortController();
    const call = openClient(silent).threads.list({ signal: onItsWay.signal }).page();
    await eventually(() => proxy.hangingAt(silent) === 1);
    onItsWay.abort(reason);
    await assert.rejects(call, aborted);
    await eventually(() => proxy.hangingAt(silent) === 0);

    const limited = proxy.address([{ status: 429, headers: { 'retry-after': '20' } }]);
    const inPause = new AbortController();
    const waiting = openClient(limited, { maxRetryDelayMs: 30_000 });
    const paused = waiting.threads.list({ signal: inPause.signal }).page();
    await eventually(() => proxy.requestsTo(limited).length === 1);
    inPause.abort(reason);
    await assert.rejects(paused, aborted);
  });

  it('times out, even if fetch ignores its signal', async () => {
    const silent = proxy.address(Array(3).fill('hang'));
    const timeout = { name: 'TimeoutError', code: 'TIMEOUT' };
    const { threads } = openClient(silent, { timeoutMs: 200 });
    await assert.rejects(threads.list().page(), timeout);
    await assert.rejects(threads.get('thr_1', { timeoutMs: 100 }), timeout);
    await eventually(() => proxy.hangingAt(silent) === 0);
    const deaf = openClient(silent, { fetch: () => new Promise<Response>(() => {}), timeoutMs: 100 });
    await assert.rejects(deaf.threads.list().page(), timeout);
  });

  it('leaves no listener on a signal that outlives the call', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...words: Parameters<typeof add>) => {
      listeners += 1;
      add(...words);
    };
    signal.removeEventListener = (...words: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...words);
    };
    let most = 0;
    const watched = openClient(proxy.address(['drop']), {
      fetch: (url, init) => {
        most = Math.max(most, listeners);
        return fetch(url, init);
      },
    });
    await watched.threads.list({ signal }).page();
    await watched.threads.ask('Hello', { signal });
    assert.ok(most > 0, 'it listens meanwhile');
    assert.equal(listeners, 0);
  });
});
