import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { dayMs } from '../../harness/service/shifted-clock.ts';
import { makeMember, makeOrganization, makeOrgWideKey } from '../../harness/world/tenants.ts';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

/** The remaining quota, from the RateLimit header of a response. */
function remaining({ headers }: ApiResponse): number {
  const field = /^"day";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '');
  assert.ok(field, `RateLimit: ${headers.get('ratelimit')}`);
  return Number(field[1]);
}

describe('Limits', () => {
  let world: World;
  /** An organization whose quota the tests set. */
  let metered: { id: string; api: Api };
  before(async () => {
    world = await sharedWorld();
    const id = await makeOrganization(world.service, 'Metered', 0);
    metered = { id, api: (await makeOrgWideKey(world.service, id)).api };
  });

  /** Quotas reset at midnight UTC, so tests that count requests do not start just before it. */
  before(async () => {
    const untilMidnight = dayMs - (Date.now() % dayMs);
    if (untilMidnight < 60_000) await new Promise((resolve) => setTimeout(resolve, untilMidnight + 100));
  });

  /** Lets Metered make this many more requests. Its use today follows from the remaining quota in its last response. */
  async function allow(count: number): Promise<void> {
    const { headers } = await metered.api.list();
    const [limit, left] = [headers.get('ratelimit-policy'), headers.get('ratelimit')].map((field) =>
      Number(/;[qr]=(\d+)/.exec(field ?? '')?.[1]),
    );
    await world.service.skein('org', 'set', metered.id, '--quota', String(limit! - left! + count));
  }

  async function countGranted(requests: Promise<ApiResponse>[]): Promise<number> {
    const answers = await Promise.all(requests);
    for (const answer of answers) {
      if (answer.status !== 200) assertFails(answer, 'RATE_LIMITED');
    }
    return answers.filter(({ status }) => status === 200).length;
  }

  describe('The daily quota', () => {
    it('is 10,000 requests by default', async () => {
      const answer = await world.ada.list();
      assert.equal(answer.headers.get('ratelimit-policy'), '"day";q=10000;w=86400');
    });

    it('is exact under concurrent requests, across all credentials of the organization', async () => {
      const id = await makeOrganization(world.service, 'Exact', 40);
      const [{ api }, { api: person }] = await Promise.all([
        makeOrgWideKey(world.service, id),
        makeMember(world.service, id, 'lee@example.com'),
      ]);
      const requests = Array.from({ length: 50 }, () => [api.list(), person.list()]).flat();
      assert.equal(await countGranted(requests), 40);
      for (const credential of [api, person]) assertFails(await credential.list(), 'RATE_LIMITED');
    });

    it('ends with 429, a message that says so, and the seconds until midnight UTC', async () => {
      await allow(1);
      assert.equal((await metered.api.list()).status, 200);
      const [earliest, answer] = [Date.now(), await metered.api.list()];
      assertFails(answer, 'RATE_LIMITED');
      assert.match(answer.body.error.message, /limit.*exceeded/i);
      const seconds = Number(answer.headers.get('retry-after'));
      const untilMidnight = (now: number) => (dayMs - (now % dayMs)) / 1000;
      assert.ok(seconds <= Math.ceil(untilMidnight(earliest)), `${seconds} s`);
      assert.ok(seconds >= Math.floor(untilMidnight(Date.now())), `${seconds} s`);
      assert.match(answer.headers.get('ratelimit') ?? '', /^"day";r=0;t=\d+$/);
    });

    it('does not count requests that it rejected', async () => {
      const { api, id } = metered;
      await allow(2);
      assert.equal(await countGranted(Array.from({ length: 9 }, () => api.list())), 2);
      const used = Number(/q=(\d+)/.exec((await api.list()).headers.get('ratelimit-policy') ?? '')?.[1]);
      await world.service.skein('org', 'set', id, '--quota', String(used + 3));
      assert.equal(await countGranted(Array.from({ length: 9 }, () => api.list())), 3);
    });

    it('takes effect at once when it is lowered', async () => {
      await allow(100);
      assert.equal((await metered.api.list()).status, 200);
      await allow(0);
      assertFails(await metered.api.list(), 'RATE_LIMITED');
    });

    it('counts every authenticated request, whatever its outcome', async () => {
      const { api } = metered;
      await allow(100);
      const etag = (await api.list()).headers.get('etag') ?? '';
      const requests: Record<string, () => Promise<ApiResponse>> = {
        200: () => api.list(),
        304: () => api.list({}, { 'if-none-match': etag }),
        400: () => api.list({ limit: 0 }),
        403: () => api.create({ prompt: 'x' }),
        404: () => api.get('x'),
        'unknown URL': () => api.call('GET', '/nowhere'),
        'unknown method': () => api.call('PUT', '/threads'),
        HEAD: () => api.call('HEAD', '/threads'),
      };
      let left = remaining(await api.list());
      for (const [name, request] of Object.entries(requests)) {
        const answer = await request();
        if (/^\d+$/.test(name)) assert.equal(answer.status, Number(name));
        assert.equal(remaining(answer), left - 1, name);
        left -= 1;
      }
      await allow(0);
      assertFails(await api.list(), 'RATE_LIMITED');
    });

    it('counts each of the five operations', async () => {
      let left = remaining(await world.ada.list());
      const expectOneLess = (answer: ApiResponse, what: string) => {
        assert.equal(remaining(answer), left - 1, what);
        left -= 1;
      };
      const created = await world.ada.create({ prompt: 'x' });
      expectOneLess(created, 'create');
      const { id } = created.body.thread;
      expectOneLess(await world.ada.get(id), 'get');
      expectOneLess(await world.ada.list(), 'list');
      expectOneLess(await world.ada.rename(id, 'x'), 'rename');
      expectOneLess(await world.ada.delete(id), 'delete');
    });

    it('counts nothing against the quota when the credential is missing, unknown or revoked', async () => {
      const { id, key } = await makeOrgWideKey(world.service, world.acme);
      await world.service.skein('key', 'revoke', world.acme, id);
      const left = remaining(await world.ada.list());
      assertFails(await world.as(key).list(), 'UNAUTHORIZED');
      assertFails(await world.as(`${key}x`).list(), 'UNAUTHORIZED');
      const answer = await world.nobody.list();
      assertFails(answer, 'UNAUTHORIZED');
      assert.equal(answer.headers.get('ratelimit'), null);
      assert.equal(remaining(await world.ada.list()), left - 1);
    });

    it('counts nothing while the public API is disabled', async () => {
      const { id, api } = metered;
      await allow(10);
      const left = remaining(await api.list());
      await world.service.skein('org', 'set', id, '--api', 'off');
      for (let round = 0; round < 3; round += 1) assertFails(await api.list(), 'NOT_FOUND');
      await world.service.skein('org', 'set', id, '--api', 'on');
      assert.equal(remaining(await api.list()), left - 1);
    });

    it('does not count requests outside /api/v1', async () => {
      const left = remaining(await world.ada.list());
      const headers = { authorization: `Bearer ${world.adaKey.key}` };
      for (const path of ['/healthz', '/openapi.json', '/nowhere']) {
        await (await fetch(`${world.service.baseUrl}${path}`, { headers })).text();
      }
      assert.equal(remaining(await world.ada.list()), left - 1);
    });

    it('is separate for each organization', async () => {
      await allow(0);
      assertFails(await metered.api.list(), 'RATE_LIMITED');
      assert.equal((await world.ada.list()).status, 200);
    });
  });

  describe('The other limits', () => {
    it('allow a limit parameter from 1 to 100, 25 by default', async () => {
      await Promise.all(Array.from({ length: 26 }, () => createThread(world.ada)));
      assert.equal((await world.ada.list()).body.threads.length, 25);
      for (const limit of [1, 100]) assert.equal((await world.ada.list({ limit })).status, 200);
      for (const limit of [0, 101]) assertFails(await world.ada.list({ limit }), 'INVALID_PARAMS');
    });

    it('require at least one character in prompt and title', async () => {
      const { thread } = await createThread(world.ada, { prompt: 'x', title: 'x' });
      assertFails(await world.ada.create({ prompt: '' }), 'INVALID_PARAMS');
      assertFails(await world.ada.create({ prompt: 'x', title: '' }), 'INVALID_PARAMS');
      assertFails(await world.ada.rename(thread.id, ''), 'INVALID_PARAMS');
      assert.equal((await world.ada.rename(thread.id, 'y')).status, 200);
    });
  });
});
