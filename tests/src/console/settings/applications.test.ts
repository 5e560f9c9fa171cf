import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type SettingsWorld, sharedSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { exchange, requestToken } from '../../../harness/world/applications.ts';

describe('Applications in the console', () => {
  let world: SettingsWorld;
  before(async () => {
    world = await sharedSettingsWorld();
  });

  const openApi = (token: string) => new Api(world.service.baseUrl, token);

  async function make(name: string) {
    const { id, clientSecret } = assertDone(await world.ada.post('/applications', { name }), 201);
    return { clientId: id as string, clientSecret: clientSecret as string };
  }

  async function listed(id: string) {
    return assertDone(await world.ada.get('/applications')).applications.find((one: any) => one.id === id);
  }

  describe('accepts', () => {
    it('a new application, whose secret is shown once and works at the address that the page shows', async () => {
      const made = await make('Dashboards');
      const { tokenUrl } = assertDone(await world.ada.get('/applications'));
      assert.equal(tokenUrl, `${world.service.baseUrl}/oauth2/token`);
      const token = await exchange(new URL(tokenUrl).origin, made);
      assert.equal((await openApi(token).list()).status, 200);
      // Use is stored once a second, so `lastUsedAt` may be set already.
      const { createdAt, lastUsedAt: _, ...shown } = await listed(made.clientId);
      assert.ok(Date.parse(createdAt) > 0);
      assert.deepEqual(shown, { id: made.clientId, name: 'Dashboards', rotatedAt: null });
    });

    it('a rotation, after which the old secret and its tokens get 401', async () => {
      const made = await make('Rotated');
      const token = await exchange(world.service.baseUrl, made);
      assert.equal((await openApi(token).list()).status, 200);
      const answer = assertDone(await world.ada.post(`/applications/${made.clientId}/rotate`), 201);
      assert.equal((await openApi(token).list()).status, 401);
      assert.equal((await requestToken(world.service.baseUrl, made)).status, 401);
      const rotated = { clientId: answer.id, clientSecret: answer.clientSecret };
      assert.equal((await openApi(await exchange(world.service.baseUrl, rotated)).list()).status, 200);
      assert.ok(Date.parse((await listed(made.clientId)).rotatedAt) > 0);
    });

    it('a deletion, after which no credential of the application works and it is not listed', async () => {
      const made = await make('Doomed');
      const token = await exchange(world.service.baseUrl, made);
      assert.equal((await openApi(token).list()).status, 200);
      assert.deepEqual(assertDone(await world.ada.delete(`/applications/${made.clientId}`)), {});
      assert.equal((await openApi(token).list()).status, 401);
      assert.equal((await requestToken(world.service.baseUrl, made)).status, 401);
      assert.equal(await listed(made.clientId), undefined);
      assertRefused(await world.ada.delete(`/applications/${made.clientId}`), 404);
    });
  });

  describe('rejects', () => {
    it('an empty name, and an application that does not exist', async () => {
      for (const body of [{}, { name: '' }, { name: 5 }, { name: 'x'.repeat(256) }]) {
        assertRefused(await world.ada.post('/applications', body), 400);
      }
      assertRefused(await world.ada.post('/applications/app_nonsense/rotate'), 404);
      assertRefused(await world.ada.delete('/applications/app_nonsense'), 404);
    });

    it('new applications and rotations without the public API, but not deletions', async () => {
      const { service, acme, ada } = world;
      const { clientId } = await make('Before');
      await service.skein('org', 'set', acme, '--api', 'off');
      assertRefused(await ada.post('/applications', { name: 'x' }), 403, /not enabled/);
      assertRefused(await ada.post(`/applications/${clientId}/rotate`), 403, /not enabled/);
      assertDone(await ada.delete(`/applications/${clientId}`));
      await service.skein('org', 'set', acme, '--api', 'on');
    });
  });

  describe('protects', () => {
    it('applications from members and from other organizations', async () => {
      const made = await make('Ours');
      const { ben, eve } = world;
      assertRefused(await ben.get('/applications'), 403);
      assertRefused(await ben.post('/applications', { name: 'x' }), 403);
      assertRefused(await ben.post(`/applications/${made.clientId}/rotate`), 403);
      assertRefused(await ben.delete(`/applications/${made.clientId}`), 403);
      assertRefused(await eve.post(`/applications/${made.clientId}/rotate`), 404);
      assertRefused(await eve.delete(`/applications/${made.clientId}`), 404);
      assert.deepEqual(assertDone(await eve.get('/applications')).applications, []);
      await exchange(world.service.baseUrl, made);
    });
  });
});
