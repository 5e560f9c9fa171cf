import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpWorld, readStatus, remaining, type Scheme } from '../../../testing/http-world.ts';

for (const scheme of ['http', 'https'] satisfies Scheme[])
  describe(`A read that is sent again, over ${scheme}`, () => {
    const world = new HttpWorld(scheme);

    it('shows what has changed since', async () => {
      await world.client.exchange(world.getThread());
      const body = '{"title":"New"}';
      const rename = world.head(
        `PATCH /api/v1/threads/${world.threadId}`,
        'Content-Type: application/json',
        'Content-Length: 15',
      );
      assert.equal(readStatus(await world.client.exchange(rename + body)), '200');
      assert.match(await world.client.exchange(world.getThread()), /"title":"New"/);
    });

    it('gets an error, once the thread is deleted', async () => {
      await world.client.exchange(world.getThread());
      let left = remaining(
        await world.client.exchange(world.head(`DELETE /api/v1/threads/${world.threadId}`)),
      );
      for (let count = 0; count < 3; count += 1) {
        const response = await world.client.exchange(world.getThread());
        assert.equal(readStatus(response), '404');
        left -= 1;
        assert.equal(remaining(response), left, 'it is counted once');
        assert.match(response, /cache-control: no-store.*"code":"NOT_FOUND"/s);
      }
    });

    it('counts once against the quota, whether it is granted or not', async () => {
      const change = world.change();
      const [, limit] = /;q=(\d+)/.exec(await world.client.exchange(world.getThread()))!;
      const [, left] = /;r=(\d+)/.exec(await world.client.exchange(world.getThread()))!;
      await world.skein.useCases.organizations.change(change, {
        dailyQuota: Number(limit) - Number(left) + 2,
      });
      const statuses = [];
      for (let count = 0; count < 4; count += 1)
        statuses.push(readStatus(await world.client.exchange(world.getThread())));
      assert.deepEqual(statuses, ['200', '200', '429', '429']);
      await world.skein.useCases.organizations.change(change, { dailyQuota: Number(limit) });
      const [, restored] = /;r=(\d+)/.exec(await world.client.exchange(world.getThread()))!;
      assert.equal(Number(restored), Number(left) - 3);
    });

    it('counts once if it is not found, after a body of many pieces', async () => {
      await world.client.exchange(world.getThread());
      await world.open().exchange(world.head(`DELETE /api/v1/threads/${world.threadId}`));
      const body = [...`{"prompt":"${'x'.repeat(1020)}"}`].map((byte) => `1\r\n${byte}\r\n`).join('');
      const lines = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
      const left = remaining(
        await world.client.exchange(`${world.head('POST /api/v1/threads', ...lines)}${body}0\r\n\r\n`),
      );
      const response = await world.client.exchange(world.getThread());
      assert.equal(readStatus(response), '404');
      assert.equal(remaining(response), left - 1);
    });

    it('loads a large thread once', async () => {
      const created = await world.client.exchange(world.post(`{"prompt":"${'\\u20ac'.repeat(90_000)}"}`));
      const read = world.head(`GET /api/v1/threads/${/"id":"(thr_\w+)"/.exec(created)![1]}`);
      const { getThread } = world.store;
      let loaded = 0;
      world.store.getThread = (...values) => {
        loaded += 1;
        return getThread(...values);
      };
      for (let count = 1; count <= 5; count += 1) {
        await world.client.chunkedExchange(read);
        // First as a small thread, then as one that is sent at once.
        assert.equal(loaded, 2 * count);
      }
      world.store.getThread = getThread;
    });

    it('is rejected as soon as its key is revoked', async () => {
      const change = world.change();
      const { userId } = await world.skein.useCases.members.add(change, {
        email: `${world.threadId}@acme.example`,
        role: 'member',
      });
      const other = await world.skein.useCases.keys.create(change, { userId, name: 'Other' });
      const read = world.head('GET /api/v1/threads').replace(world.key, other.key);
      await world.client.exchange(read);
      await world.skein.useCases.keys.revoke(change, other.id);
      const response = await world.client.exchange(read);
      assert.equal(readStatus(response), '401');
      assert.match(response, /www-authenticate: Bearer/i);
    });

    it('is rejected once its access token has expired', async () => {
      const change = world.change();
      const { id } = await world.skein.useCases.applications.create(change, 'App');
      const { accessTokens } = world.skein.useCases;
      const grant = await world.store.findApplicationGrant(id as never);
      const token = await accessTokens.issue({ applicationId: id as never, ...grant! });
      const read = world.head('GET /api/v1/threads').replace(world.key, token);
      await world.client.exchange(read);
      const { read: readToken } = accessTokens;
      accessTokens.read = async () => undefined;
      assert.equal(readStatus(await world.client.exchange(read)), '401');
      accessTokens.read = readToken;
      assert.equal(readStatus(await world.client.exchange(read)), '200');
    });

    describe('is a part of what was sent before', () => {
      beforeEach(() => world.client.exchange(world.getThread()));
      const partial = 'GET /api/v1/threads HTTP/1.1\r\nX: ';
      const list = /"threads":/;

      it('as headers', async () => {
        world.client.send(partial);
        for (let turns = 0; turns < 20; turns += 1) await nextTurn();
        assert.match(await world.client.exchange(world.getThread()), list);
        assert.doesNotMatch(await world.client.exchange(world.getThread()), list);
      });

      it('as headers that began together with an earlier request', async () => {
        assert.doesNotMatch(await world.client.exchange(world.getThread() + partial), list);
        assert.match(await world.client.exchange(world.getThread()), list);
        assert.doesNotMatch(await world.client.exchange(world.getThread()), list);
      });

      it('as a body that arrives after the response', async () => {
        const put = world.head('PUT /nowhere', `Content-Length: ${world.getThread().length}`);
        assert.equal(readStatus(await world.client.exchange(put)), '404');
        world.client.send(world.getThread());
        for (let turns = 0; turns < 20; turns += 1) await nextTurn();
        assert.match(await world.client.exchange(world.head('GET /api/v1/threads')), list);
      });

      it('as one of two requests that arrive together, however often they do', async () => {
        for (let count = 0; count < 5; count += 1) {
          world.client.send(world.getThread() + world.head('GET /api/v1/threads'));
          assert.doesNotMatch(await world.client.response(), list);
          assert.match(await world.client.response(), list);
        }
      });
    });
  });
