import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Fetch, SkeinOptions } from '../../../client/src/index.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { exchange, type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { createThread, sharedWorld, type World } from '../../harness/world/world.ts';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';
import { type Client, packedClient } from './packed.ts';

const refusal = {
  status: 401,
  body: '{"error":{"code":"UNAUTHORIZED","message":"Revoked.","trace_id":"trace-1"}}',
};

describe("An application's client", () => {
  let world: World;
  let proxy: FaultyProxy;
  let client: Client;
  let application: IssuedApplication;
  let published: string;
  before(async () => {
    world = await sharedWorld();
    proxy = await FaultyProxy.start(world.service.baseUrl);
    client = await packedClient();
    application = await makeApplication(world.service, world.acme);
    published = (await createThread(world.ada)).thread.id;
    await world.publish(published);
  });
  after(async () => {
    await proxy.close();
  });

  /** A client whose calls, and whose exchanges, meet these faults. */
  const start = (
    { calls = [], exchanges = [] }: { calls?: Fault[]; exchanges?: Fault[] } = {},
    options: Partial<SkeinOptions> = {},
  ) => {
    const [baseUrl, authUrl] = [proxy.address(calls), proxy.address(exchanges)];
    const { threads } = new client.Skein({
      baseUrl,
      authUrl,
      ...application,
      maxRetryDelayMs: 20,
      ...options,
    } as SkeinOptions);
    return {
      threads,
      authUrl,
      read: (signal?: AbortSignal) => threads.get(published, { signal }),
      calls: () => proxy.requestsTo(baseUrl),
      exchanges: () => proxy.requestsTo(authUrl),
    };
  };

  it('gets one token for many calls, concurrent and later', async () => {
    const { read, calls, exchanges } = start();
    const reads = await Promise.all(Array.from({ length: 20 }, () => read()));
    assert.ok(reads.every(({ thread }) => thread.id === published));
    await read();
    assert.equal(calls().length, 21);
    const [only, ...others] = exchanges();
    assert.deepEqual(others, []);
    assert.deepEqual([only?.method, only?.path], ['POST', '/oauth2/token']);
    assert.equal(only?.headers['content-type'], 'application/x-www-form-urlencoded');
    const { clientId: client_id, clientSecret: client_secret } = application;
    assert.deepEqual(Object.fromEntries(new URLSearchParams(only?.body)), {
      grant_type: 'client_credentials',
      client_id,
      client_secret,
    });
    const shown = new Set(calls().map(({ headers }) => headers.authorization));
    assert.equal(shown.size, 1);
    assert.match([...shown][0] as string, /^Bearer ey/);
  });

  it('renews its token shortly before it expires', async (test) => {
    test.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const { read, exchanges } = start();
    await read();
    test.mock.timers.tick(3_500_000);
    await read();
    assert.equal(exchanges().length, 1, 'it has 100 s left');
    test.mock.timers.tick(50_000);
    await Promise.all([read(), read()]);
    assert.equal(exchanges().length, 2, 'it had 50 s left');
    await read();
    assert.equal(exchanges().length, 2);
  });

  it('renews short-lived tokens proportionally earlier, even without expires_in', async (test) => {
    const access_token = await exchange(world.service.baseUrl, application);
    const token = (fields: object) => ({ status: 200, body: JSON.stringify({ access_token, ...fields }) });
    test.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const { read, exchanges } = start({ exchanges: [token({ expires_in: 10 }), token({}), token({})] });
    await read();
    test.mock.timers.tick(7_900);
    await read();
    assert.equal(exchanges().length, 1);
    test.mock.timers.tick(200);
    await read();
    assert.equal(exchanges().length, 2);
    test.mock.timers.tick(239_000);
    await read();
    assert.equal(exchanges().length, 2);
    test.mock.timers.tick(2_000);
    await read();
    assert.equal(exchanges().length, 3);
  });

  it('gets one new token for all calls whose cached token was rejected', async () => {
    const { read, calls, exchanges } = start({ calls: ['pass', ...Array<Fault>(5).fill(refusal)] });
    await read();
    const reads = await Promise.all(Array.from({ length: 5 }, () => read()));
    assert.ok(reads.every(({ thread }) => thread.id === published));
    assert.equal(calls().length, 11);
    assert.equal(exchanges().length, 2);
  });

  it('uses a token fetched by another call when an old token is rejected late', async () => {
    const gate = Promise.withResolvers<void>();
    let requests = 0;
    const late: Fetch = async (url, init) => {
      if (url.endsWith('/oauth2/token')) return fetch(url, init);
      requests += 1;
      const isLate = requests === 3;
      const answer = await fetch(url, init);
      if (isLate) await gate.promise;
      return answer;
    };
    const { read, calls, exchanges } = start({ calls: ['pass', refusal, refusal] }, { fetch: late });
    await read();
    const [first, second] = [read(), read()];
    await first;
    assert.equal(exchanges().length, 2);
    gate.resolve();
    await second;
    assert.deepEqual([calls().length, exchanges().length], [5, 2]);
  });

  it('fails if a new token is rejected too', async () => {
    const fresh = start({ calls: [refusal] });
    await assert.rejects(fresh.read(), client.UnauthorizedError);
    assert.deepEqual([fresh.calls().length, fresh.exchanges().length], [1, 1]);
    const kept = start({ calls: ['pass', refusal, refusal] });
    await kept.read();
    await assert.rejects(kept.read(), { code: 'UNAUTHORIZED', status: 401, traceId: 'trace-1' });
    assert.deepEqual([kept.calls().length, kept.exchanges().length], [3, 2]);
  });

  it('gets new tokens after a rotation only with the new secret', async () => {
    const other = await makeApplication(world.service, world.acme, 'Rotated');
    const before = start({}, other);
    await before.read();
    const rotated = await world.service.skein('app', 'rotate', world.acme, other.clientId);
    const error = await before.read().catch((failure) => failure);
    assert.ok(error instanceof client.UnauthorizedError, `${error}`);
    assert.match(error.message, /^Could not get an access token/);
    assert.ok(!`${error.stack}`.includes(other.clientSecret));
    const { clientSecret } = rotated;
    assert.equal((await start({}, { ...other, clientSecret }).read()).thread.id, published);
  });

  it('retries a token exchange after transient faults and reports its own error classes', async () => {
    const passing = start({ exchanges: ['drop', { status: 503 }, 'cut'] });
    assert.equal((await passing.read()).thread.id, published);
    assert.equal(passing.exchanges().length, 4);

    const oauth = (status: number, error: string, headers = {}) => ({
      status,
      headers,
      body: JSON.stringify({ error }),
    });
    const expected: [Fault, unknown][] = [
      [oauth(401, 'invalid_client'), client.UnauthorizedError],
      [oauth(400, 'unauthorized_client'), client.UnauthorizedError],
      [oauth(400, 'invalid_request'), client.InvalidParamsError],
      [oauth(429, 'temporarily_unavailable', { 'retry-after': '60' }), client.RateLimitedError],
      [{ status: 200, body: '<html>' }, client.UnexpectedResponseError],
      [{ status: 200, body: '{"access_token":"two\\nlines"}' }, client.UnexpectedResponseError],
      [{ status: 302, headers: { location: 'http://127.0.0.1:1' } }, client.UnexpectedResponseError],
    ];
    for (const [fault, expectedClass] of expected) {
      const refused = start({ exchanges: [fault] });
      const error = await refused.read().catch((failure) => failure);
      assert.equal(error.constructor, expectedClass, `${JSON.stringify(fault)}: ${error}`);
      assert.ok(!error.message.includes('two'), 'the token is not shown');
      assert.deepEqual([refused.exchanges().length, refused.calls().length], [1, 0]);
      assert.equal((await refused.read()).thread.id, published, 'a failure is not kept');
    }
  });

  it('aborts a call without aborting the token request that other calls wait for', async () => {
    const gate = Promise.withResolvers<void>();
    const gated: Fetch = async (url, init) => {
      if (url.endsWith('/oauth2/token')) await gate.promise;
      return fetch(url, init);
    };
    const { read, exchanges } = start({}, { fetch: gated });
    const leaving = new AbortController();
    const left = read(leaving.signal);
    const others = [read(), read()];
    leaving.abort();
    await assert.rejects(left, { name: 'AbortError' });
    gate.resolve();
    for (const { thread } of await Promise.all(others)) assert.equal(thread.id, published);
    assert.equal(exchanges().length, 1);
  });

  it('aborts a token exchange without waiting callers, and starts a new one for the next caller', async () => {
    const { read, exchanges, authUrl } = start({ exchanges: ['hang'] });
    const leaving = new AbortController();
    const calls = [read(leaving.signal), read(leaving.signal)];
    await eventually(() => proxy.hangingAt(authUrl) === 1);
    leaving.abort();
    for (const call of calls) await assert.rejects(call, { name: 'AbortError' });
    await eventually(() => proxy.hangingAt(authUrl) === 0);
    assert.equal((await read()).thread.id, published);
    assert.equal(exchanges().length, 2);
  });

  it('can only read', async () => {
    await assert.rejects(start().threads.create({ prompt: 'Mine' }), client.ForbiddenError);
  });
});
