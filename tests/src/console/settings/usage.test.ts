import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused, type Visitor } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { clockAtNoon, dayMs } from '../../../harness/service/shifted-clock.ts';
import { exchange } from '../../../harness/world/applications.ts';
import { describeOnEachEngine } from '../../../harness/world/engines.ts';

describeOnEachEngine('Usage in the console', (engine) => {
  let world: SettingsWorld;
  before(async () => {
    world = await startSettingsWorld({ ...(await engine.freshStore()), ...clockAtNoon() });
  });
  after(() => world?.end());

  const openApi = (key: string) => new Api(world.service.baseUrl, key);
  const requestsIn = (counts: any[]) => counts.reduce((sum, { requests }) => sum + requests, 0);

  /** Waits until this many requests are counted and returns the counts. Fails if more are counted. */
  async function awaitUsage(visitor: Visitor, requests: number): Promise<any> {
    return eventually(
      async () => assertDone(await visitor.get('/usage')),
      ({ counts, traffic }) =>
        requestsIn(counts) >= requests && (traffic === null || requestsIn(traffic.operations) >= requests),
    );
  }

  it('counts each request exactly once, by day, credential, operation and outcome', async () => {
    const { ada, ben, acme, service } = world;
    const made = assertDone(await ada.post('/keys', { name: 'Laptop', scope: 'personal' }), 201);
    const bens = await service.skein('key', 'create', acme, '--user', world.email('ben'));
    const app = assertDone(await ada.post('/applications', { name: 'Dashboards' }), 201);
    const token = await exchange(service.baseUrl, { clientId: app.id, clientSecret: app.clientSecret });
    const api = openApi(made.key);
    const { body } = await api.create({ prompt: 'Hello' });
    for (let place = 0; place < 5; place += 1) await api.list();
    await Promise.all(Array.from({ length: 20 }, () => api.get(body.thread.id)));
    await api.get('thr_missing');
    await api.rename(body.thread.id, 'Other');
    await api.call('PATCH', `/threads/${body.thread.id}`, { body: { titel: 'x' } });
    await api.delete(body.thread.id);
    await fetch(`${service.baseUrl}/api/v1/nowhere`, { headers: { authorization: `Bearer ${made.key}` } });
    await openApi(`${made.key.slice(0, -1)}!`).list();
    await openApi(bens.key).list();
    await openApi(token).list();
    await openApi(token).create({ prompt: 'x' });

    const { quota, periods, counts, traffic } = await awaitUsage(ada, 34);
    const today = periods.at(-1);
    const key = { id: made.id, kind: 'key', name: 'Laptop' };
    const application = { id: app.id, kind: 'application', name: 'Dashboards' };
    const bensKey = { id: bens.id, kind: 'key', name: `${bens.key.slice(0, 8)}…${bens.key.slice(-4)}` };
    const expected = [
      [key, 'createThread', 'OK', 1],
      [key, 'listThreads', 'OK', 5],
      [key, 'getThread', 'OK', 20],
      [key, 'getThread', 'NOT_FOUND', 1],
      [key, 'renameThread', 'OK', 1],
      [key, 'renameThread', 'INVALID_PARAMS', 1],
      [key, 'deleteThread', 'OK', 1],
      [key, 'unknown', 'NOT_FOUND', 1],
      [bensKey, 'listThreads', 'OK', 1],
      [application, 'listThreads', 'OK', 1],
      [application, 'createThread', 'FORBIDDEN', 1],
    ].map(([credential, operation, outcome, requests]) => ({
      period: today,
      credential,
      operation,
      outcome,
      requests,
    }));
    const inOrder = (list: any[]) => list.map((count) => JSON.stringify(sorted(count))).sort();
    assert.deepEqual(inOrder(counts), inOrder(expected));
    assert.equal(quota.used, 34, 'what is counted is what was taken from the quota');
    assert.equal(quota.limit, 10_000);
    assert.deepEqual(traffic.errors, [
      { code: 'NOT_FOUND', requests: 2 },
      ...['FORBIDDEN', 'INVALID_PARAMS'].map((code) => ({ code, requests: 1 })),
    ]);
    const gets = traffic.operations[0];
    assert.deepEqual([gets.operation, gets.requests, gets.errors], ['getThread', 21, 1]);
    assert.ok(gets.p50 > 0 && gets.p50 <= gets.p95 && gets.p95 <= gets.p99);
    const { replies } = traffic;
    assert.equal(replies.completed + replies.cancelled, 1, JSON.stringify(replies));
    assert.equal(quota.resetsAt, `${nextDay(today)}T00:00:00.000Z`);
    const own = assertDone(await ben.get('/usage'));
    assert.deepEqual([own.quota, own.traffic], [quota, null]);
    assert.deepEqual(
      own.counts.map(({ credential }: any) => credential),
      [bensKey],
      'a member sees what their own keys did',
    );
  });

  it('counts requests above the quota as rejected, and none without the public API', async () => {
    const { eve, globex, service } = world;
    const { key } = assertDone(await eve.post('/keys', { name: 'Few', scope: 'personal' }), 201);
    await service.skein('org', 'set', globex, '--quota', '2');
    const statuses: number[] = [];
    for (let place = 0; place < 5; place += 1) statuses.push((await openApi(key).list()).status);
    assert.deepEqual(statuses, [200, 200, 429, 429, 429]);
    await service.skein('org', 'set', globex, '--api', 'off');
    assert.equal((await openApi(key).list()).status, 404);
    await service.skein('org', 'set', globex, '--api', 'on', '--quota', '3');
    assert.equal((await openApi(key).list()).status, 200);
    const { quota, counts } = await awaitUsage(eve, 6);
    assert.deepEqual(Object.fromEntries(counts.map(({ outcome, requests }: any) => [outcome, requests])), {
      OK: 3,
      RATE_LIMITED: 3,
    });
    assert.deepEqual([quota.used, quota.limit], [3, 3]);
  });

  it('shows the requested range, including days and hours without requests', async () => {
    const read = async (range: string) => assertDone(await world.ada.get(`/usage${range}`));
    for (const [range, length] of [
      ['', 30],
      ['?range=7d', 7],
      ['?range=90d', 90],
    ] as const) {
      const { periods } = await read(range);
      assert.equal(periods.length, length);
      for (const [place, day] of periods.slice(1).entries()) assert.equal(day, nextDay(periods[place]));
    }
    const { periods, counts } = await read('?range=24h');
    assert.equal(periods.length, 24);
    assert.ok(requestsIn(counts) >= 34 && counts.every(({ period }: any) => periods.includes(period)));
    for (const wrong of ['1h', '30', ''])
      assertRefused(await world.ada.get(`/usage?range=${wrong}`), 400, /range/);
  });

  it('keeps its counts through a clean stop, and shows them to the operator', async () => {
    const { ada, acme, service } = world;
    const made = assertDone(await ada.post('/keys', { name: 'Last', scope: 'personal' }), 201);
    await Promise.all(Array.from({ length: 10 }, () => openApi(made.key).list()));
    assert.equal(await service.end(), 0);
    const { requests } = await service.skein('usage', acme, '--days', '366');
    const last = requests.filter(({ credential }: any) => credential.id === made.id);
    assert.equal(requestsIn(last), 10);
  });
});

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString().slice(0, 10);
}

function sorted(value: any): any {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
