import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConsoleClient, type ConsoleResponse, testPassword } from '../../harness/console/console-client.ts';
import { type SettingsWorld, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone, assertRefused } from '../../harness/console/visitor.ts';
import { Api } from '../../harness/http/api.ts';
import { Service } from '../../harness/service/service.ts';
import { clockOffBy, dayMs } from '../../harness/service/shifted-clock.ts';
import { definedRoutes, type KnownRoute, knownRoutes, type Thing } from './console-routes.ts';

const guarded = knownRoutes.filter(({ caller }) => caller !== 'anyone');
const entering = knownRoutes.filter(({ caller }) => caller === 'member' || caller === 'admin');
const unsafe = knownRoutes.filter(({ method }) => method !== 'GET');
const sessionLifeMs = 30 * dayMs;

/** The checks that every route of the console makes first. A rejected request changes nothing. */
describe('Every route of the console', () => {
  let world: SettingsWorld;
  let things: Record<Thing, string>;
  before(async () => {
    world = await startSettingsWorld();
    things = await makeThings(world);
  });
  after(() => world?.end());

  function buildAddress({ url, caller, thing, query = '' }: KnownRoute): string {
    const path = url.replace(':id', thing ? things[thing] : '') + query;
    return caller === 'member' || caller === 'admin' ? `/organizations/${world.acme}${path}` : path;
  }

  function call(client: ConsoleClient, route: KnownRoute, headers = {}): Promise<ConsoleResponse> {
    return client.call(route.method, buildAddress(route), { ...route.call, headers });
  }

  /** The same session in a separate client, which can send what no browser would. */
  function copyClient({ baseUrl, cookies, csrfToken, session }: ConsoleClient, at = baseUrl): ConsoleClient {
    const copy = new ConsoleClient(at);
    for (const [name, value] of cookies) copy.cookies.set(name, value);
    return Object.assign(copy, { csrfToken, session });
  }

  async function refusals(
    routes: readonly KnownRoute[],
    client: ConsoleClient,
    status: number,
    headers = {},
  ): Promise<void> {
    assert.ok(routes.length > 0);
    for (const route of routes) {
      const answer = await call(client, route, headers);
      assert.equal(answer.status, status, `${route.method} ${route.url}: ${JSON.stringify(answer.body)}`);
      assertRefused(answer, status);
    }
  }

  it('is in the list of known routes', () => {
    const { routes, count } = definedRoutes();
    const name = ({ method, url, caller }: (typeof routes)[number]) => `${method} ${url} for ${caller}`;
    assert.deepEqual(routes.map(name).sort(), knownRoutes.map(name).sort());
    assert.equal(count, routes.length, 'every definition was understood');
  });

  it('rejects requests without a session, even with a CSRF token', async () => {
    const nobody = new ConsoleClient(world.service.baseUrl);
    await refusals(guarded, nobody, 401);
    nobody.cookies.set('skein', 'x'.repeat(43));
    await refusals(
      guarded.filter(({ method }) => method === 'GET'),
      nobody,
      401,
    );
  });

  it('rejects a session that has ended', async () => {
    const ended = new ConsoleClient(world.service.baseUrl);
    assertDone(await ended.signIn(world.email('ada'), testPassword));
    const browser = copyClient(ended);
    assertDone(await ended.post('/sign-out'));
    await refusals(guarded, browser, 401);
  });

  it('rejects a change without a CSRF token, or with the token of another session', async () => {
    const ada = copyClient(world.ada.client);
    await refusals(unsafe, ada, 403, { 'x-skein-csrf': '' });
    const changes = guarded.filter(({ method }) => method !== 'GET');
    for (const proof of ['none', '0'.repeat(64), world.ben.client.csrfToken]) {
      await refusals(changes, ada, 403, { 'x-skein-csrf': proof });
    }
  });

  it('rejects a change sent from another site, whatever its CSRF token', async () => {
    const ada = copyClient(world.ada.client);
    await refusals(unsafe, ada, 403, { 'sec-fetch-site': 'cross-site' });
    await refusals(unsafe, ada, 403, { origin: 'https://elsewhere.example' });
  });

  it('rejects bodies above 16 KB on routes without a session', async () => {
    const open = unsafe.filter(({ caller }) => caller === 'anyone');
    assert.ok(open.length >= 3);
    for (const { method, url } of open) {
      const sized = (size: number) => ({ padding: 'x'.repeat(size - 14) });
      const stranger = new ConsoleClient(world.service.baseUrl);
      const largest = await stranger.call(method, url, { body: sized(16_384) });
      assert.match(largest.body.error.message, /padding|Missing required field/, url);
      const answer = await stranger.call(method, url, { body: sized(16_385) });
      assert.equal(answer.status, 400, url);
      assert.equal(answer.body.error.message, 'Request body must be at most 16,384 bytes.', url);
    }
  });

  it('returns 404 in an organization that the person does not belong to', async () => {
    await refusals(entering, copyClient(world.eve.client), 404);
  });

  it('rejects members on routes for admins', async () => {
    await refusals(
      entering.filter(({ caller }) => caller === 'admin'),
      copyClient(world.ben.client),
      403,
    );
  });

  it('still responds to permitted callers: rejected requests have changed nothing', async () => {
    const { client } = world.ada;
    for (const route of guarded.filter(({ ssoOnly }) => !ssoOnly)) {
      if (!client.cookies.has('skein')) assertDone(await client.signIn(world.email('ada'), testPassword));
      const status = /\/(events|export)$/.test(route.url)
        ? await statusOfStream(client, `/console${buildAddress(route)}`)
        : (await call(client, withOwnBody(route, things))).status;
      assert.ok(status < 300, `${route.method} ${route.url}: ${status}`);
    }
  });

  it('rejects a session that has expired', async () => {
    const { client } = world.ada;
    assertDone(await client.get('/session'));
    const { folder } = world.service;
    await world.service.end();
    const later = await Service.start({ folder, environment: clockOffBy(sessionLifeMs + 60_000) });
    await refusals(guarded, copyClient(client, later.baseUrl), 401);
    await later.end();
  });
});

/** The start of the response of a stream. */
async function statusOfStream(client: ConsoleClient, path: string): Promise<number> {
  const response = await client.fetch(path);
  await response.body?.cancel();
  return response.status;
}

function withOwnBody(route: KnownRoute, { reply }: Record<Thing, string>): KnownRoute {
  if (route.url === '/threads/:id/rating') {
    return { ...route, call: { body: { messageId: reply, value: 'down' } } };
  }
  if (route.url !== '/password') return route;
  return { ...route, call: { body: { current: testPassword, next: 'another violin, another sky' } } };
}

async function makeThings({ service, acme, ada, email }: SettingsWorld): Promise<Record<Thing, string>> {
  const key = assertDone(await ada.post('/keys', { name: 'Ask', scope: 'personal' }), 201);
  const api = new Api(service.baseUrl, key.key);
  const { thread: created, responseMessageId: reply } = (await api.create({ prompt: 'Hello' })).body;
  const thread = created.id;
  const failedThread = (await api.create({ prompt: '#fail' })).body.thread.id;
  await Promise.all([api.untilDone(thread), api.untilDone(failedThread)]);
  const { id: member } = await service.skein('member', 'add', acme, email('carol'));
  return {
    organization: acme,
    keyRequest: assertDone(await ada.post('/key-requests', { name: 'First' }), 201).id,
    approvedRequest: assertDone(await ada.post('/key-requests', { name: 'Second' }), 201).id,
    thread,
    failedThread,
    reply,
    key: key.id,
    application: assertDone(await ada.post('/applications', { name: 'App' }), 201).id,
    member,
    document: assertDone(await ada.upload({ name: 'first.md' }, '# First\n\nText.\n'), 201).id,
  };
}
