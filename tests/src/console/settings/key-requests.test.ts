import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type SettingsWorld, sharedSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused, type Visitor } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { describeOnEachEngine } from '../../../harness/world/engines.ts';

describeOnEachEngine('Key requests and rotation in the console', (engine) => {
  let world: SettingsWorld;
  before(async () => {
    world = await sharedSettingsWorld(await engine.sharedStore());
  });

  const fetchStatus = async (key: string) => (await new Api(world.service.baseUrl, key).list()).status;
  const request = async (visitor: Visitor, name: string): Promise<string> =>
    assertDone(await visitor.post('/key-requests', { name }), 201).id;
  const listed = async (visitor: Visitor) => assertDone(await visitor.get('/keys'));

  async function personalKey(visitor: Visitor, name: string): Promise<{ id: string; key: string }> {
    return assertDone(await visitor.post('/keys', { name, scope: 'personal' }), 201);
  }

  describe('accepts', () => {
    it("a member's request, which an admin approves without seeing the key, and its owner reveals once", async () => {
      const { ada, ben } = world;
      const id = await request(ben, 'My laptop');
      const [pending] = (await listed(ada)).requests;
      const { requestedAt, expiresAt, ...shown } = pending;
      assert.deepEqual(shown, {
        id,
        name: 'My laptop',
        owner: world.email('ben'),
        mine: false,
        state: 'pending',
      });
      assert.ok(Date.parse(requestedAt) < Date.parse(expiresAt));
      assertRefused(await ben.post(`/key-requests/${id}/reveal`), 404);

      const approved = await ada.post(`/key-requests/${id}/approve`);
      assert.deepEqual(assertDone(approved), {});
      assertRefused(await ada.post(`/key-requests/${id}/approve`), 404);
      const [waiting] = (await listed(ben)).requests;
      assert.deepEqual([waiting.state, waiting.mine], ['approved', true]);
      assertRefused(await ada.post(`/key-requests/${id}/reveal`), 404, /does not exist/);

      const revealed = await ben.post(`/key-requests/${id}/reveal`);
      const made = assertDone(revealed, 201);
      assert.match(made.key, /^eak_[0-9A-Za-z]{36}$/);
      assert.ok(made.curl.includes(made.key));
      assertRefused(await ben.post(`/key-requests/${id}/reveal`), 404);
      assert.equal((await new Api(world.service.baseUrl, made.key).create({ prompt: 'Hello' })).status, 201);
      const { keys, requests } = await listed(ben);
      assert.deepEqual(requests, []);
      const key = keys.find((one: any) => one.id === made.id);
      assert.deepEqual(
        [key.name, key.owner, key.createdBy],
        ['My laptop', world.email('ben'), world.email('ada')],
      );

      const { events } = assertDone(await ada.get('/audit'));
      const written = events.slice(0, 3).map(({ action, actor }: any) => [action, actor]);
      assert.deepEqual(written, [
        ['key.revealed', world.email('ben')],
        ['key.approved', world.email('ada')],
        ['key.requested', world.email('ben')],
      ]);
      assert.ok(!JSON.stringify(events).includes(made.key));
    });

    it('a request that is declined, which its owner sees', async () => {
      const { ada, ben } = world;
      const id = await request(ben, 'Unwanted');
      assertDone(await ada.post(`/key-requests/${id}/decline`));
      const { requests } = await listed(ben);
      assert.equal(requests.find((one: any) => one.id === id).state, 'declined');
      assertRefused(await ben.post(`/key-requests/${id}/reveal`), 404);
      const { events } = assertDone(await ada.get('/audit'));
      assert.equal(events[0].action, 'key.declined');
    });

    it('a rotation by the owner: the new key is shown once, and the old one ends at once or later', async () => {
      const { ada } = world;
      const first = await personalKey(ada, 'Rotated');
      const second = assertDone(await ada.post(`/keys/${first.id}/rotate`, { oldValidFor: '1h' }), 201);
      assert.deepEqual([await fetchStatus(first.key), await fetchStatus(second.key)], [200, 200]);
      const third = assertDone(await ada.post(`/keys/${second.id}/rotate`, { oldValidFor: 'now' }), 201);
      assert.deepEqual([await fetchStatus(second.key), await fetchStatus(third.key)], [401, 200]);
      const { keys } = await listed(ada);
      const [old, replaced, current] = [first, second, third].map(({ id }) =>
        keys.find((key: any) => key.id === id),
      );
      assert.deepEqual([old.rotatable, replaced.rotatable, current.rotatable], [false, false, true]);
      const inMs = Date.parse(old.revokedAt) - Date.now();
      assert.ok(inMs > 3_000_000 && inMs <= 3_600_000, old.revokedAt);
      assert.equal(current.name, 'Rotated');
      assertDone(await ada.post(`/keys/${first.id}/revoke`));
      assert.equal(await fetchStatus(first.key), 401, 'it can be revoked before its time');
    });

    it('a rotation by an admin of org-wide keys and of service accounts, and by the operator', async () => {
      const { ada, service, acme } = world;
      for (const body of [
        { name: 'Shared', scope: 'org-wide' },
        { name: 'Robot', scope: 'personal', ownerId: world.robotId },
      ]) {
        const { id, key } = assertDone(await ada.post('/keys', body), 201);
        const next = assertDone(await ada.post(`/keys/${id}/rotate`, { oldValidFor: 'now' }), 201);
        assert.deepEqual([await fetchStatus(key), await fetchStatus(next.key)], [401, 200]);
      }
      const made = await service.skein('key', 'create', acme, '--user', world.email('ben'));
      const next = await service.skein('key', 'rotate', acme, made.id, '--old-valid-for', '24h');
      assert.deepEqual([await fetchStatus(made.key), await fetchStatus(next.key)], [200, 200]);
      const last = await service.skein('key', 'rotate', acme, next.id);
      assert.deepEqual([await fetchStatus(next.key), await fetchStatus(last.key)], [401, 200]);
    });
  });

  describe('rejects', () => {
    it('invalid names and times, and keys that were already rotated', async () => {
      const { ada, ben } = world;
      for (const body of [
        {},
        { name: '' },
        { name: 'x'.repeat(256) },
        { name: 5 },
        { name: 'x', scope: 'org-wide' },
      ])
        assertRefused(await ben.post('/key-requests', body), 400);
      const { id } = await personalKey(ada, 'Once');
      for (const body of [{}, { oldValidFor: '2h' }, { oldValidFor: 'now', name: 'x' }])
        assertRefused(await ada.post(`/keys/${id}/rotate`, body), 400);
      assertDone(await ada.post(`/keys/${id}/rotate`, { oldValidFor: '7d' }), 201);
      assertRefused(await ada.post(`/keys/${id}/rotate`, { oldValidFor: 'now' }), 400, /rotated or revoked/);
    });

    it('more pending requests of one member than the limit', async () => {
      const { ben, ada } = world;
      const ids = [await request(ben, 'One'), await request(ben, 'Two'), await request(ben, 'Three')];
      assertRefused(await ben.post('/key-requests', { name: 'Four' }), 400, /3 open requests/);
      for (const id of ids) assertDone(await ada.post(`/key-requests/${id}/decline`));
    });
  });

  describe('protects', () => {
    it('a person’s key from being rotated, and thereby seen, by an admin', async () => {
      const { ada, ben, service, acme } = world;
      const made = await service.skein('key', 'create', acme, '--user', world.email('ben'), '--name', 'Bens');
      const shown = (await listed(ada)).keys.find((key: any) => key.id === made.id);
      assert.equal(shown.rotatable, false);
      assertRefused(await ada.post(`/keys/${made.id}/rotate`, { oldValidFor: 'now' }), 403);
      assert.equal(await fetchStatus(made.key), 200);
      assertDone(await ben.post(`/keys/${made.id}/rotate`, { oldValidFor: 'now' }), 201);
    });

    it('requests and keys from other members and other organizations', async () => {
      const { ada, ben, eve, acme } = world;
      const { id: key } = await personalKey(ada, 'Adas');
      assertRefused(await ben.post(`/keys/${key}/rotate`, { oldValidFor: 'now' }), 404);
      const id = await request(ada, 'Admins may ask, too');
      assert.ok((await listed(ben)).requests.every(({ mine }: any) => mine));
      assertRefused(await ben.post(`/key-requests/${id}/approve`), 403);
      assertRefused(await eve.intrude(acme, 'POST', `/key-requests/${id}/approve`), 404);
      assertRefused(await eve.post(`/key-requests/${id}/approve`), 404);
      assertRefused(await eve.post(`/keys/${key}/rotate`, { oldValidFor: 'now' }), 404);
      assertDone(await ada.post(`/key-requests/${id}/approve`));
      assertRefused(await ben.post(`/key-requests/${id}/reveal`), 404);
    });
  });
});
