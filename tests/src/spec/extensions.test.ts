import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import {
  assertFails,
  assertInvalid,
  createThread,
  sharedWorld,
  type World,
} from '../../harness/world/world.ts';

describe('Extensions by request header', () => {
  let world: World;
  before(async () => {
    world = await sharedWorld();
  });

  const listIds = ({ body }: ApiResponse) => [body.thread.id, body.messageId, body.responseMessageId];

  describe('Idempotency-Key on create', () => {
    it('returns the first response again for a retry and creates no second thread', async () => {
      const body = { prompt: 'Once', accountId: 'acc_once', title: 'Once' };
      const headers = { 'idempotency-key': 'k-once' };
      const first = await world.ada.create(body, headers);
      const second = await world.ada.create(body, headers);
      assert.deepEqual([first.status, second.status], [201, 201]);
      assert.deepEqual(second.body, first.body);
      assert.equal(second.headers.get('location'), first.headers.get('location'));
      assert.equal((await world.ada.walk({ accountId: 'acc_once' })).length, 1);
    });

    it('creates one thread for many concurrent requests', async () => {
      const body = { prompt: 'At once', accountId: 'acc_burst' };
      const headers = { 'idempotency-key': 'k-burst' };
      const answers = await Promise.all(Array.from({ length: 10 }, () => world.ada.create(body, headers)));
      for (const answer of answers) {
        assert.equal(answer.status, 201);
        assert.deepEqual(listIds(answer), listIds(answers[0]!));
      }
      assert.equal((await world.ada.walk({ accountId: 'acc_burst' })).length, 1);
    });

    it('ignores how the same JSON body is formatted', async () => {
      const headers = { 'idempotency-key': 'k-spelling' };
      const first = await world.ada.create({ prompt: 'Same', title: 'T' }, headers);
      const raw = '{ "title": "T",\n "prompt": "\\u0053ame" }';
      const second = await world.ada.call('POST', '/threads', { raw, headers });
      assert.deepEqual(listIds(second), listIds(first));
    });

    it('rejects the key with a different body', async () => {
      const headers = { 'idempotency-key': 'k-other' };
      assert.equal((await world.ada.create({ prompt: 'One', title: 'T' }, headers)).status, 201);
      for (const body of [
        { prompt: 'Two', title: 'T' },
        { prompt: 'One' },
        { prompt: 'One', title: 'T', accountId: 'a' },
        { prompt: 'One', title: 'T', secondaryId: 'a' },
      ]) {
        assertInvalid(await world.ada.create(body, headers), 'Idempotency-Key', JSON.stringify(body));
      }
    });

    it('is scoped to a user in an organization: others can use the same key', async () => {
      const headers = { 'idempotency-key': 'k-shared' };
      const answers = await Promise.all(
        [world.ada, world.ben, world.eve].map((api) => api.create({ prompt: 'Mine' }, headers)),
      );
      for (const { status } of answers) assert.equal(status, 201);
      assert.equal(new Set(answers.map(({ body }) => body.thread.id)).size, 3);
    });

    it('is not used up by a rejected request', async () => {
      const headers = { 'idempotency-key': 'k-refused' };
      assertFails(await world.ada.create({ prompt: '' }, headers), 'INVALID_PARAMS');
      assert.equal((await world.ada.create({ prompt: 'Now right' }, headers)).status, 201);
    });

    it('must have 1 to 255 characters', async () => {
      for (const key of ['', 'x'.repeat(256)]) {
        assertFails(await world.ada.create({ prompt: 'x' }, { 'idempotency-key': key }), 'INVALID_PARAMS');
      }
      const longest = { 'idempotency-key': 'x'.repeat(255) };
      assert.equal((await world.ada.create({ prompt: 'x' }, longest)).status, 201);
    });

    it('is optional: without one, each request creates a thread', async () => {
      const body = { prompt: 'Twice', accountId: 'acc_twice' };
      await createThread(world.ada, body);
      await createThread(world.ada, body);
      assert.equal((await world.ada.walk({ accountId: 'acc_twice' })).length, 2);
    });
  });

  describe('If-None-Match on get and list', () => {
    const readEtag = ({ headers }: ApiResponse): string => {
      const etag = headers.get('etag');
      assert.match(etag ?? '', /^(W\/)?".+"$/);
      return etag as string;
    };

    it('returns 304 without a body when nothing has changed', async () => {
      const { thread } = await createThread(world.ada, { accountId: 'acc_304' });
      await world.ada.untilDone(thread.id);
      for (const read of [
        (headers = {}) => world.ada.get(thread.id, headers),
        (headers = {}) => world.ada.list({ accountId: 'acc_304' }, headers),
      ]) {
        const etag = readEtag(await read());
        for (const value of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
          const { status, body, headers } = await read({ 'if-none-match': value });
          assert.deepEqual([status, body, headers.get('etag')], [304, undefined, etag], value);
        }
        assert.equal((await read({ 'if-none-match': '"other"' })).status, 200);
      }
    });

    it('keeps the ETag of a page even though its cursor changes with every response', async () => {
      await createThread(world.ada, { accountId: 'acc_page' });
      await createThread(world.ada, { accountId: 'acc_page' });
      const query = { accountId: 'acc_page', limit: 1 };
      const page = await world.ada.list(query);
      assert.notEqual(page.body.nextCursor, null);
      assert.equal((await world.ada.list(query, { 'if-none-match': readEtag(page) })).status, 304);
    });

    it('returns the full response once the reply has made progress', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#wait 700\n#say Done.' });
      const early = await world.ada.get(thread.id);
      assert.equal(early.body.status.state, 'in_progress');
      const done = await world.ada.untilDone(thread.id);
      const answer = await world.ada.get(thread.id, { 'if-none-match': readEtag(early) });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, done);
    });

    it('returns the full response after a thread is renamed, published, created or deleted', async () => {
      const accountId = 'acc_changes';
      const { thread } = await createThread(world.ada, { accountId });
      await world.ada.untilDone(thread.id);
      let seen = readEtag(await world.ada.list({ accountId }));
      const changes: Record<string, () => Promise<unknown>> = {
        rename: () => world.ada.rename(thread.id, 'Renamed'),
        publish: () => world.publish(thread.id),
        create: () => createThread(world.ada, { accountId }),
        delete: () => world.ada.delete(thread.id),
      };
      for (const [name, change] of Object.entries(changes)) {
        assert.equal((await world.ada.list({ accountId }, { 'if-none-match': seen })).status, 304, name);
        await change();
        const answer = await world.ada.list({ accountId }, { 'if-none-match': seen });
        assert.equal(answer.status, 200, name);
        seen = readEtag(answer);
      }
    });

    it('returns 404 before 304 to a caller who may not read the thread', async () => {
      const { thread } = await createThread(world.ada);
      await world.ada.untilDone(thread.id);
      const etag = readEtag(await world.ada.get(thread.id));
      for (const value of [etag, '*']) {
        assertFails(await world.ben.get(thread.id, { 'if-none-match': value }), 'NOT_FOUND');
      }
    });
  });

  describe('Prefer: wait on get', { concurrency: true }, () => {
    const waitFor = (seconds: number | string) => ({ prefer: `wait=${seconds}` });
    const appliedTo = ({ headers }: ApiResponse) => headers.get('preference-applied');

    /** Whether a waiting request has received its response. */
    const held = (
      answer: Promise<ApiResponse>,
    ): { answer: Promise<ApiResponse>; isAnswered: () => boolean } => {
      let answered = false;
      const marked = answer.finally(() => {
        answered = true;
      });
      return { answer: marked, isAnswered: () => answered };
    };

    it('holds the response until the reply has completed or failed', async () => {
      for (const [ending, state] of [
        ['#say Done.', 'idle'],
        ['#fail', 'error'],
      ]) {
        const { thread } = await createThread(world.ada, { prompt: `#wait 600\n${ending}` });
        const answer = await world.ada.get(thread.id, waitFor(20));
        const answeredAtMs = Date.now();
        assert.deepEqual([answer.status, answer.body.status.state], [200, state]);
        assert.equal(appliedTo(answer), 'wait=20');
        assert.ok(answeredAtMs - Date.parse(answer.body.messages[1].completedAt) < 2000, 'at once');
        assert.deepEqual((await world.ada.get(thread.id)).body, answer.body);
      }
    });

    it('returns the partial reply when the wait times out', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#say So far.\n#hang' });
      const began = performance.now();
      const answer = await world.ada.get(thread.id, waitFor(1));
      assert.ok(performance.now() - began >= 990);
      assert.deepEqual([answer.status, answer.body.status.state], [200, 'in_progress']);
      assert.equal(answer.body.messages[1].content, 'So far.');
      assert.equal(appliedTo(answer), 'wait=1');
    });

    it('responds immediately when nothing is in progress', async () => {
      const { thread } = await createThread(world.ada);
      const done = await world.ada.untilDone(thread.id);
      const answer = await world.ada.get(thread.id, waitFor(20));
      assert.deepEqual([answer.status, answer.body, appliedTo(answer)], [200, done, 'wait=20']);
    });

    it('ignores invalid wait preferences and caps excessive ones', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#hang' });
      for (const prefer of [
        'wait=-1',
        'wait=1.5',
        'wait=soon',
        'wait',
        'wait=',
        'respond-async',
        ',;=',
        '"',
      ]) {
        const answer = await world.ada.get(thread.id, { prefer });
        assert.deepEqual([answer.status, appliedTo(answer)], [200, null], prefer);
      }
      const none = await world.ada.get(thread.id, waitFor(0));
      assert.deepEqual([none.status, appliedTo(none)], [200, 'wait=0']);
      const done = await createThread(world.ada);
      await world.ada.untilDone(done.thread.id);
      for (const seconds of [26, '9'.repeat(30)]) {
        assert.equal(appliedTo(await world.ada.get(done.thread.id, waitFor(seconds))), 'wait=25');
      }
      assert.equal((await world.ada.list({}, waitFor(20))).status, 200);
    });

    it('works with If-None-Match: returns 304 only if the caller already has the final reply', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#wait 500\n#say Done.' });
      const early = (await world.ada.get(thread.id)).headers.get('etag') as string;
      const answer = await world.ada.get(thread.id, { ...waitFor(20), 'if-none-match': early });
      assert.deepEqual([answer.status, answer.body.status.state], [200, 'idle']);
      const known = { ...waitFor(20), 'if-none-match': answer.headers.get('etag') as string };
      assert.equal((await world.ada.get(thread.id, known)).status, 304);
      const hanging = await createThread(world.ada, { prompt: '#hang' });
      const same = (await world.ada.get(hanging.thread.id)).headers.get('etag') as string;
      const unchanged = await world.ada.get(hanging.thread.id, { ...waitFor(1), 'if-none-match': same });
      assert.deepEqual([unchanged.status, unchanged.body], [304, undefined]);
    });

    it('works with HEAD, too', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#wait 500\n#say Done.' });
      const head = await world.ada.call('HEAD', `/threads/${thread.id}`, { headers: waitFor(20) });
      assert.deepEqual([head.status, head.body, appliedTo(head)], [200, undefined, 'wait=20']);
      const get = await world.ada.get(thread.id);
      assert.equal(get.body.status.state, 'idle');
      assert.equal(head.headers.get('etag'), get.headers.get('etag'));
    });

    it('works for every caller who may read the thread, and for nobody else', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#wait 1500\n#say Done.' });
      for (const api of [world.ben, world.eve, world.acmeWide]) {
        assertFails(await api.get(thread.id, waitFor(20)), 'NOT_FOUND');
      }
      assertFails(await world.nobody.get(thread.id, waitFor(20)), 'UNAUTHORIZED');
      await world.publish(thread.id);
      for (const api of [world.ben, world.acmeWide]) {
        assert.equal((await api.get(thread.id, waitFor(20))).body.status.state, 'idle');
      }
    });

    it('responds immediately when the thread is deleted during the wait', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#hang' });
      const { answer, isAnswered } = held(world.ada.get(thread.id, waitFor(20)));
      await world.ada.get(thread.id);
      assert.equal(isAnswered(), false);
      const began = Date.now();
      assert.equal((await world.ada.delete(thread.id)).status, 200);
      assertFails(await answer, 'NOT_FOUND');
      assert.ok(Date.now() - began < 2000);
    });

    it('checks access again when the wait ends: after a revoked key or an unpublished thread it returns nothing', async () => {
      const { key, id } = await world.service.skein(
        'key',
        'create',
        world.acme,
        '--user',
        'ben@acme.example',
      );
      const { thread } = await createThread(world.ada, { prompt: '#say Not for you.\n#hang' });
      await world.publish(thread.id);
      const revoked = held(world.as(key).get(thread.id, waitFor(3)));
      const hidden = held(world.ben.get(thread.id, waitFor(3)));
      await world.ada.get(thread.id);
      assert.deepEqual([revoked.isAnswered(), hidden.isAnswered()], [false, false]);
      await Promise.all([
        world.service.skein('key', 'revoke', world.acme, id),
        world.service.skein('thread', 'unpublish', world.acme, thread.id),
      ]);
      assert.deepEqual([revoked.isAnswered(), hidden.isAnswered()], [false, false]);
      assertFails(await revoked.answer, 'UNAUTHORIZED');
      assertFails(await hidden.answer, 'NOT_FOUND');
    });
  });

  describe('Prefer: wait and the quota', () => {
    it('counts as one request against the quota, however long it waits', async () => {
      const remaining = ({ headers }: ApiResponse) =>
        Number(/r=(\d+)/.exec(headers.get('ratelimit') as string)?.[1]);
      const { thread } = await createThread(world.eve, { prompt: '#wait 1200\n#say Done.' });
      const before = remaining(await world.eve.get(thread.id));
      const waited = await world.eve.get(thread.id, { prefer: 'wait=20' });
      assert.equal(waited.body.status.state, 'idle');
      assert.equal(remaining(waited), before - 1);
      assert.equal(remaining(await world.eve.get(thread.id)), before - 2);
    });
  });

  describe('Headers of every response', () => {
    it('include a unique X-Request-Id that the caller cannot choose', async () => {
      const sent = { 'x-request-id': 'chosen', 'request-id': 'chosen' };
      const answers = [
        await world.ada.list({}, sent),
        await world.ada.list(),
        await world.nobody.list({}, sent),
      ];
      const ids = answers.map(({ headers }) => headers.get('x-request-id'));
      assert.equal(new Set(ids).size, 3);
      assert.ok(!ids.includes('chosen'));
    });

    it('include RateLimit and RateLimit-Policy for every authenticated request, rejected or not', async () => {
      const answers = [
        await world.ada.list(),
        await world.ada.create({}),
        await world.ada.get('x'),
        await world.ada.call('PUT', '/threads'),
        await world.acmeWide.create({ prompt: 'x' }),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 400, 404, 404, 403],
      );
      for (const { headers } of answers) {
        assert.match(headers.get('ratelimit') ?? '', /^"day";r=\d+;t=\d+$/);
        assert.equal(headers.get('ratelimit-policy'), '"day";q=10000;w=86400');
      }
    });

    it('grant no CORS access, even to a preflight from another origin', async () => {
      const origin = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' };
      const asked = [
        await world.ada.list({}, origin),
        await world.ada.call('OPTIONS', '/threads', { headers: origin }),
        await world.nobody.call('OPTIONS', '/threads', { headers: origin }),
      ];
      for (const { headers } of asked) {
        assert.ok(![...headers.keys()].some((name) => name.startsWith('access-control-')));
      }
    });
  });

  describe('HEAD', () => {
    it('returns what GET returns, without the body', async () => {
      const { thread } = await createThread(world.ada);
      await world.ada.untilDone(thread.id);
      for (const path of [
        `/threads/${thread.id}`,
        '/threads?limit=1',
        '/threads/x',
        '/threads?limit=0',
        '/nowhere',
      ]) {
        const get = await world.ada.call('GET', path);
        const head = await world.ada.call('HEAD', path);
        assert.equal(head.status, get.status, path);
        assert.equal(head.body, undefined, path);
        for (const name of ['content-type', 'content-length', 'etag']) {
          assert.equal(head.headers.get(name), get.headers.get(name), `${name} of ${path}`);
        }
      }
    });

    it('returns 304 as GET does, without a Content-Length', async () => {
      const { thread } = await createThread(world.ada);
      await world.ada.untilDone(thread.id);
      for (const path of [`/threads/${thread.id}`, '/threads?limit=1']) {
        for (const method of ['GET', 'HEAD']) {
          const { status, headers } = await world.ada.call(method, path, {
            headers: { 'if-none-match': '*' },
          });
          assert.deepEqual([status, headers.get('content-length')], [304, null], `${method} ${path}`);
        }
      }
    });

    it('requires what GET requires', async () => {
      const { thread } = await createThread(world.ada);
      assert.equal((await world.nobody.call('HEAD', `/threads/${thread.id}`)).status, 401);
      assert.equal((await world.ben.call('HEAD', `/threads/${thread.id}`)).status, 404);
    });
  });
});
