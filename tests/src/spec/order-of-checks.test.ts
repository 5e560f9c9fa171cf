import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { makeOrganization, makeOrgWideKey } from '../../harness/world/tenants.ts';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

const missing = 'thr_00000000000000000000000000';

/** Each test takes two adjacent checks: a request that fails both gets the error of the first. */
describe('The order of checks', () => {
  let world: World;
  /** An unpublished thread of Ada's, and a published one. */
  let own: string;
  let published: string;
  /** An organization whose quota is used up from the start. */
  let spent: { id: string; reader: Api };
  before(async () => {
    world = await sharedWorld();
    own = (await createThread(world.ada)).thread.id;
    published = (await createThread(world.ada)).thread.id;
    const id = await makeOrganization(world.service, 'Spent', 0);
    const [{ api: reader }] = await Promise.all([
      makeOrgWideKey(world.service, id),
      world.publish(published),
    ]);
    spent = { id, reader };
  });

  it('checks the credential before the organization’s access to the API', async () => {
    const { id, api } = await makeOrgWideKey(world.service, spent.id);
    await world.service.skein('org', 'set', spent.id, '--api', 'off');
    assertFails(await api.list(), 'NOT_FOUND', 'while it lives');
    await world.service.skein('key', 'revoke', spent.id, id);
    assertFails(await api.list(), 'UNAUTHORIZED', 'once it is revoked');
    await world.service.skein('org', 'set', spent.id, '--api', 'on');
  });

  it('checks the credential before the path, so that paths cannot be probed', async () => {
    const answers = await Promise.all([
      world.nobody.call('GET', '/threads'),
      world.nobody.call('GET', '/nowhere'),
      world.nobody.call('PUT', '/threads'),
      world.nobody.call('GET', ''),
      world.nobody.call('GET', `/threads/${own}`),
      world.nobody.call('OPTIONS', '/threads'),
      world.nobody.call('POST', '/threads', { raw: '{' }),
    ]);
    for (const answer of answers) assertFails(answer, 'UNAUTHORIZED');
    assert.equal(new Set(answers.map(({ body }) => body.error.message)).size, 1);
  });

  it('checks the organization’s access to the API before its quota', async () => {
    assertFails(await spent.reader.list(), 'RATE_LIMITED', 'while it is enabled');
    await world.service.skein('org', 'set', spent.id, '--api', 'off');
    const answer = await spent.reader.list();
    await world.service.skein('org', 'set', spent.id, '--api', 'on');
    assertFails(answer, 'NOT_FOUND', 'once it is not');
    assert.equal(answer.headers.get('retry-after'), null);
  });

  it('checks the quota before the path and the method', async () => {
    assertFails(await world.acmeWide.call('GET', '/nowhere'), 'NOT_FOUND', 'with quota');
    assertFails(await spent.reader.call('GET', '/nowhere'), 'RATE_LIMITED', 'GET /nowhere');
    assertFails(await spent.reader.call('PUT', '/threads'), 'RATE_LIMITED', 'PUT /threads');
  });

  it('checks the quota before anything else about the request', async () => {
    assertFails(await spent.reader.create({}), 'RATE_LIMITED', 'org-wide write');
    assertFails(await spent.reader.list({ limit: 0 }), 'RATE_LIMITED', 'invalid query');
    assertFails(await spent.reader.get(missing), 'RATE_LIMITED', 'missing thread');
  });

  it('checks the path and the method before the kind of principal', async () => {
    assertFails(await world.acmeWide.create({ prompt: 'x' }), 'FORBIDDEN', 'where there is one');
    const calls = [
      ['POST', `/threads/${published}`],
      ['PUT', '/threads'],
      ['DELETE', '/threads'],
      ['POST', '/nowhere'],
      ['POST', '/threads/'],
    ] as const;
    for (const [method, path] of calls) {
      const answer = await world.acmeWide.call(method, path, { body: { prompt: 'x' } });
      assertFails(answer, 'NOT_FOUND', `${method} ${path}`);
    }
  });

  it('checks the kind of principal before the body', async () => {
    const spoilt = [
      { body: {} },
      { raw: '{' },
      { raw: '' },
      { raw: 'x'.repeat(1_048_577) },
      { body: { title: 'x', prompt: 'x' }, headers: { 'content-type': 'text/plain' } },
    ];
    for (const call of spoilt) {
      assertFails(await world.ada.call('POST', '/threads', call), 'INVALID_PARAMS', 'a person');
      assertFails(await world.acmeWide.call('POST', '/threads', call), 'FORBIDDEN', 'POST');
      assertFails(await world.acmeWide.call('PATCH', `/threads/${published}`, call), 'FORBIDDEN', 'PATCH');
    }
  });

  it('checks the body before the thread', async () => {
    for (const id of [missing, 'x', published]) {
      for (const call of [{ body: {} }, { body: { title: 'x', more: 1 } }, { raw: '{' }]) {
        assertFails(await world.ben.call('PATCH', `/threads/${id}`, call), 'INVALID_PARAMS', id);
      }
    }
    assertFails(await world.ben.rename(missing, 'x'), 'NOT_FOUND', 'with a valid body');
    assertFails(await world.ben.rename(published, 'x'), 'FORBIDDEN', 'with a valid body');
  });

  it('checks read access to the thread before checking who created it', async () => {
    assertFails(await world.ben.rename(own, 'x'), 'NOT_FOUND');
    assertFails(await world.ben.delete(own), 'NOT_FOUND');
    assertFails(await world.ben.rename(published, 'x'), 'FORBIDDEN');
    assertFails(await world.ben.delete(published), 'FORBIDDEN');
  });

  it('checks the kind of principal before the thread', async () => {
    for (const id of [missing, 'x', own, published]) {
      assertFails(await world.acmeWide.rename(id, 'x'), 'FORBIDDEN', id);
      assertFails(await world.acmeWide.delete(id), 'FORBIDDEN', id);
    }
  });
});
