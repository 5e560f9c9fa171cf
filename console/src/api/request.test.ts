import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { request } from './request.ts';

/** Sends the requests of the page to a server. Resolves when the server listens. */
async function answerWith(test: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const send = globalThis.fetch;
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  test.mock.method(globalThis, 'fetch', (path: string, init: RequestInit) => send(`${origin}${path}`, init));
  return server;
}

describe('A request of the console', () => {
  const unreachable = { code: 'UNREACHABLE', status: 0 };

  it('fails if the connection is lost in the middle of the response', async (test) => {
    await answerWith(test, (_, response) => {
      response.writeHead(201, { 'content-type': 'application/json' });
      response.write('{"key":', () => response.destroy());
    });
    await assert.rejects(request('POST', '/keys'), unreachable);
  });

  it('fails if a proxy cuts or replaces a successful response', async (test) => {
    const bodies = ['{"threads":[{"id"', '<p>Sign in to the network</p>', ''];
    await answerWith(test, (_, response) => response.end(bodies.shift()));
    for (let left = bodies.length; left > 0; left -= 1)
      await assert.rejects(request('GET', '/threads'), unreachable);
  });

  it('fails with a sentence if a proxy has an error of its own', async (test) => {
    const bodies = ['{"error":"upstream timed out"}', '{"error":{"code":504}}', 'null', '<p>Bad gateway</p>'];
    await answerWith(test, (_, response) => response.writeHead(502).end(bodies.shift()));
    const expected = {
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong. Please try again.',
      status: 502,
    };
    for (let left = bodies.length; left > 0; left -= 1)
      await assert.rejects(request('GET', '/threads'), expected);
  });

  it('fails after a minute if the service does not respond', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const server = await answerWith(test, () => undefined);
    const sending = request('POST', '/keys');
    await once(server, 'request');
    test.mock.timers.tick(60_000);
    await assert.rejects(sending, unreachable);
  });

  it('sends a change only once while it is in progress: a second click gets the response to the first', async (test) => {
    let received = 0;
    const server = await answerWith(test, (_, response) => {
      received += 1;
      setImmediate(() => response.end(`{"count":${received}}`));
    });
    const rotate = () => request('POST', '/rotate', { body: { id: 1 } });
    const clicks = [rotate(), rotate()];
    await once(server, 'request');
    assert.deepEqual(await Promise.all(clicks), [{ count: 1 }, { count: 1 }]);
    assert.deepEqual(await rotate(), { count: 2 }, 'a later one is sent');
    const others = [request('POST', '/rotate', { body: { id: 2 } }), request('POST', '/other')];
    await Promise.all([...others, request('GET', '/keys'), request('GET', '/keys')]);
    assert.equal(received, 6, 'and so are others, and reads');
  });

  it('sends a change that undoes another, even if the same change was sent earlier', async (test) => {
    let received = 0;
    await answerWith(test, (_, response) => {
      received += 1;
      response.end('{}');
    });
    const rate = (value: string | null) => request('PUT', '/rating', { body: { value } });
    await Promise.all([rate('up'), rate(null), rate('up')]);
    assert.equal(received, 3);
  });

  it('rejects with the reason when its caller aborts it', async (test) => {
    const server = await answerWith(test, () => undefined);
    const caller = new AbortController();
    const sending = request('GET', '/keys', { signal: caller.signal });
    await once(server, 'request');
    caller.abort();
    await assert.rejects(sending, { name: 'AbortError' });
  });
});
