import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { operate, runCommand, temporaryFolder } from '../../harness/service/service.ts';
import { type IssuedKey, makeMember, makeOrgWideKey, makePersonalKey } from '../../harness/world/tenants.ts';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

describe('Authentication', () => {
  let world: World;
  /** A published thread of Ada's. */
  let published: string;
  /** Other credentials: a second key of Ada's, one of a service account, one to revoke, and Ada's at Globex. */
  let spare: IssuedKey;
  let robot: IssuedKey;
  let doomed: IssuedKey;
  let adaAtGlobex: IssuedKey;
  before(async () => {
    world = await sharedWorld();
    const { service, acme, globex } = world;
    published = (await createThread(world.ada)).thread.id;
    [spare, robot, doomed, adaAtGlobex] = await Promise.all([
      makePersonalKey(service, acme, 'ada@acme.example'),
      service
        .skein('member', 'add', acme, 'robot@acme.example', '--service')
        .then(() => makePersonalKey(service, acme, 'robot@acme.example')),
      makeOrgWideKey(service, acme),
      makeMember(service, globex, 'ada@acme.example'),
      world.publish(published),
    ]);
  });

  /** The response to each of the five operations for this caller. */
  async function statuses(api: Api, own: string): Promise<number[]> {
    return [
      (await api.create({ prompt: 'Hello' })).status,
      (await api.list()).status,
      (await api.get(own)).status,
      (await api.rename(own, 'Renamed')).status,
      (await api.delete(own)).status,
    ];
  }

  describe('accepts', () => {
    it('accepts an API key as a Bearer token, with the scheme in any case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { authorization: `${scheme} ${world.adaKey.key}` };
        assert.equal((await world.nobody.list({}, headers)).status, 200, scheme);
      }
    });

    it('issues unique keys that start with eak_', async () => {
      const made = [world.adaKey.key, world.benKey.key, spare.key, doomed.key];
      for (const key of made) assert.match(key, /^eak_[0-9A-Za-z]{33,}$/);
      assert.equal(new Set(made).size, made.length);
    });

    it('treats all keys of one person as that person', async () => {
      const other = spare.api;
      const { thread } = await createThread(world.ada);
      assert.equal((await other.get(thread.id)).status, 200);
      assert.equal((await other.rename(thread.id, 'By the other key')).status, 200);
    });

    it('lets a personal key perform all five operations on its owner’s threads', async () => {
      const { thread } = await createThread(world.ada);
      assert.deepEqual(await statuses(world.ada, thread.id), [201, 200, 200, 200, 200]);
    });

    it('lets the personal key of a service account write', async () => {
      const { thread } = await createThread(robot.api);
      assert.deepEqual(await statuses(robot.api, thread.id), [201, 200, 200, 200, 200]);
    });
  });

  describe('rejects', () => {
    it('rejects a request without a credential and asks for a Bearer token', async () => {
      for (const headers of [{}, { authorization: 'Basic YTpi' }] as Array<Record<string, string>>) {
        const answer = await world.nobody.list({}, headers);
        assertFails(answer, 'UNAUTHORIZED');
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="skein"');
      }
    });

    it('reports an invalid credential in the WWW-Authenticate challenge', async () => {
      for (const authorization of [`Bearer ${world.adaKey.key}x`, 'bearer x', 'Bearer']) {
        const answer = await world.nobody.list({}, { authorization });
        assertFails(answer, 'UNAUTHORIZED', authorization);
        const challenge = answer.headers.get('www-authenticate');
        assert.equal(challenge, 'Bearer realm="skein", error="invalid_token"', authorization);
      }
    });

    it('says how to send a key that was sent without its scheme', async () => {
      for (const authorization of [world.adaKey.key, `Basic ${world.adaKey.key}`]) {
        const answer = await world.nobody.list({}, { authorization });
        assertFails(answer, 'UNAUTHORIZED', authorization);
        assert.match(answer.body.error.message, /Authorization: Bearer <credential>/);
      }
    });

    it('rejects a malformed credential', async () => {
      const { key } = world.adaKey;
      const malformed = [
        '',
        'Bearer',
        'Bearer ',
        key,
        `Basic ${key}`,
        `Bearer${key}`,
        `Bearer ${key} ${key}`,
        `Bearer ${key.slice(0, -1)}`,
        `Bearer ${key}0`,
        `Bearer ${key.replace('eak_', '')}`,
        `Bearer ${key.replace('eak_', 'EAK_')}`,
        `Bearer "${key}"`,
        'Bearer eak_',
        'Bearer null',
        'Bearer a.b.c',
        'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
      ];
      assert.equal((await world.nobody.list({}, { authorization: `Bearer ${key}` })).status, 200);
      for (const authorization of malformed) {
        assertFails(await world.nobody.list({}, { authorization }), 'UNAUTHORIZED', authorization);
      }
    });

    it('rejects a key with any single character changed', async () => {
      const { key } = world.adaKey;
      for (let index = 0; index < key.length; index += 1) {
        const changed = key.slice(0, index) + (key[index] === 'x' ? 'y' : 'x') + key.slice(index + 1);
        assertFails(await world.as(changed).list(), 'UNAUTHORIZED', `character ${index}`);
      }
    });

    it('rejects a well-formed key that this installation did not issue', async () => {
      const folder = temporaryFolder();
      await operate(folder, ['org', 'create', 'Acme']);
      const { key } = await operate(folder, ['key', 'create', 'Acme', '--org-wide']);
      assertFails(await world.as(key).list(), 'UNAUTHORIZED');
    });

    it('accepts a credential only in the Authorization header', async () => {
      const { key } = world.adaKey;
      for (const name of ['access_token', 'api_key', 'key', 'authorization']) {
        assertFails(await world.nobody.list({ [name]: key }), 'UNAUTHORIZED', name);
      }
      assertFails(await world.nobody.list({}, { 'x-api-key': key }), 'UNAUTHORIZED');
      assertFails(await world.nobody.list({}, { cookie: `authorization=${key}` }), 'UNAUTHORIZED');
    });

    it('rejects a revoked key from the next request on, for every operation', async () => {
      const { id, api } = spare;
      const { thread } = await createThread(api);
      await world.service.skein('key', 'revoke', world.acme, id);
      assert.deepEqual(await statuses(api, thread.id), [401, 401, 401, 401, 401]);
      assert.equal((await world.ada.get(thread.id)).status, 200, 'her other key and the thread live on');
    });

    it('rejects a member’s personal keys after they leave, even if they rejoin', async () => {
      const email = 'kim@acme.example';
      const { api: first } = await makeMember(world.service, world.acme, email);
      const { api: second } = await makePersonalKey(world.service, world.acme, email);
      const { thread } = await createThread(first);
      await world.publish(thread.id);
      assert.equal((await second.get(thread.id)).status, 200);
      await world.service.skein('member', 'remove', world.acme, email);
      for (const api of [first, second]) assertFails(await api.get(thread.id), 'UNAUTHORIZED');
      assert.equal((await world.ada.get(thread.id)).status, 200, 'what they published stays');
      assert.equal((await world.acmeWide.get(thread.id)).status, 200, 'org-wide keys last');
      const { api: third } = await makeMember(world.service, world.acme, email);
      assert.equal((await third.list()).status, 200);
      for (const api of [first, second]) assertFails(await api.get(thread.id), 'UNAUTHORIZED');
    });

    it('rejects a revoked org-wide key', async () => {
      const { id, api } = doomed;
      assert.equal((await api.get(published)).status, 200);
      await world.service.skein('key', 'revoke', world.acme, id);
      assertFails(await api.get(published), 'UNAUTHORIZED');
      assert.equal((await world.acmeWide.get(published)).status, 200);
    });
  });

  describe('protects', () => {
    it('lets an org-wide principal read published threads and forbids all writes', async () => {
      assert.deepEqual(await statuses(world.acmeWide, published), [403, 200, 200, 403, 403]);
    });

    it('grants read access only when a thread is published', async () => {
      assert.equal((await world.ben.get(published)).status, 200);
      assertFails(await world.ben.rename(published, 'x'), 'FORBIDDEN');
      assertFails(await world.ben.delete(published), 'FORBIDDEN');
    });

    it('denies a credential all access to other organizations, for reading and writing', async () => {
      assert.deepEqual(
        await Promise.all([
          world.eve.get(published).then(({ status }) => status),
          world.eve.rename(published, 'x').then(({ status }) => status),
          world.eve.delete(published).then(({ status }) => status),
        ]),
        [404, 404, 404],
      );
      assert.deepEqual(await world.eve.walk(), []);
    });

    it('isolates the organizations of a person who belongs to two', async () => {
      const { thread } = await createThread(world.ada);
      assertFails(await adaAtGlobex.api.get(thread.id), 'NOT_FOUND');
      assertFails(await adaAtGlobex.api.delete(thread.id), 'NOT_FOUND');
      assert.equal((await world.ada.get(thread.id)).status, 200);
    });

    it('shows a key in full only when it is created', async () => {
      const listed = await world.service.skein('key', 'list', world.acme);
      const hint = listed.find(({ id }: any) => id === world.adaKey.id).hint;
      const { key } = world.adaKey;
      assert.equal(hint, `${key.slice(0, 8)}…${key.slice(-4)}`);
      assert.ok(!JSON.stringify(listed).includes(key));
      assert.ok(world.service.output.length > 0);
      assert.ok(!world.service.output.some((line) => line.includes(key)), 'nor in the log');
    });

    it('issues no credential to an organization without the public API', async () => {
      const { id } = await world.service.skein('org', 'create', 'Outside', '--api', 'off');
      const refused = await runCommand(world.service.folder, ['key', 'create', id, '--org-wide']);
      assert.equal(refused.exitCode, 1);
      assert.doesNotMatch(refused.stdout, /eak_/);
    });

    it('returns 404 for every operation while the public API is disabled', async () => {
      const { thread } = await createThread(world.eve);
      await world.service.skein('org', 'set', world.globex, '--api', 'off');
      assert.deepEqual(await statuses(world.eve, thread.id), [404, 404, 404, 404, 404]);
      assert.equal((await world.ada.list()).status, 200, 'other organizations go on');
      await world.service.skein('org', 'set', world.globex, '--api', 'on');
      assert.equal((await world.eve.get(thread.id)).body.thread.title, thread.title, 'nothing was changed');
    });
  });
});
