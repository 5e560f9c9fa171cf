import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type SettingsWorld, sharedSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused, type Visitor } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { describeOnEachEngine } from '../../../harness/world/engines.ts';

describeOnEachEngine('API keys in the console', (engine) => {
  let world: SettingsWorld;
  before(async () => {
    world = await sharedSettingsWorld(await engine.sharedStore());
  });

  const openApi = (key: string) => new Api(world.service.baseUrl, key);

  async function makeKey(visitor: Visitor, body: Record<string, unknown>) {
    const made = assertDone(await visitor.post('/keys', body), 201);
    assert.match(made.id, /^key_/);
    assert.match(made.key, /^eak_[0-9A-Za-z]{36}$/);
    return made as { id: string; key: string; curl: string };
  }

  async function listed(visitor: Visitor, id: string) {
    return assertDone(await visitor.get('/keys')).keys.find((key: any) => key.id === id);
  }

  /** Runs the sample command of a key in a shell. */
  async function paste(command: string): Promise<any> {
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    return JSON.parse(stdout);
  }

  describe('accepts', () => {
    it('a personal key for the admin who creates it, which works at once and is listed without its secret', async () => {
      const { id, key, curl } = await makeKey(world.ada, { name: "Ada's laptop", scope: 'personal' });
      const { createdAt, ...shown } = await listed(world.ada, id);
      assert.deepEqual(shown, {
        id,
        name: "Ada's laptop",
        hint: `${key.slice(0, 8)}…${key.slice(-4)}`,
        scope: 'personal',
        owner: world.email('ada'),
        createdBy: world.email('ada'),
        lastUsedAt: null,
        revokedAt: null,
        rotatable: true,
      });
      assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
      const { thread } = await paste(curl);
      assert.equal((await openApi(key).get(thread.id)).status, 200, 'the sample command creates a thread');
    });

    it('an org-wide key, whose sample command lists threads', async () => {
      const { id, curl } = await makeKey(world.ada, { name: 'Reports', scope: 'org-wide' });
      assert.deepEqual((await paste(curl)).threads, []);
      const { scope, owner } = await listed(world.ada, id);
      assert.deepEqual({ scope, owner }, { scope: 'org-wide', owner: null });
    });

    it('a key for a service account', async () => {
      const { id, key } = await makeKey(world.ada, {
        name: 'Robot',
        scope: 'personal',
        ownerId: world.robotId,
      });
      assert.equal((await listed(world.ada, id)).owner, world.email('robot'));
      assert.equal((await openApi(key).create({ prompt: 'Hello' })).status, 201);
    });

    it('a revocation, after which the key gets 401, and a second one, which changes nothing', async () => {
      const { id, key } = await makeKey(world.ada, { name: 'Doomed', scope: 'personal' });
      assert.equal((await openApi(key).list()).status, 200);
      assert.deepEqual(assertDone(await world.ada.post(`/keys/${id}/revoke`)), {});
      assert.equal((await openApi(key).list()).status, 401);
      const { revokedAt } = await listed(world.ada, id);
      assert.ok(Date.parse(revokedAt) > 0);
      assertDone(await world.ada.post(`/keys/${id}/revoke`));
      assert.equal((await listed(world.ada, id)).revokedAt, revokedAt);
    });

    it("a member's request to list and revoke their own keys only", async () => {
      const { acme, service, ben } = world;
      const made = await service.skein('key', 'create', acme, '--user', world.email('ben'), '--name', 'CLI');
      const { keys } = assertDone(await ben.get('/keys'));
      assert.deepEqual(
        keys.map(({ id, owner, createdBy }: any) => ({ id, owner, createdBy })),
        [{ id: made.id, owner: world.email('ben'), createdBy: null }],
      );
      assertDone(await ben.post(`/keys/${made.id}/revoke`));
      assert.equal((await openApi(made.key).list()).status, 401);
    });

    it('a request with a key, which updates when the key was last used', async () => {
      const { id, key } = await makeKey(world.ada, { name: 'Used', scope: 'personal' });
      assert.equal((await listed(world.ada, id)).lastUsedAt, null);
      await openApi(key).list();
      const used = await eventually(
        () => listed(world.ada, id),
        ({ lastUsedAt }) => lastUsedAt !== null,
      );
      assert.ok(Math.abs(Date.parse(used.lastUsedAt) - Date.now()) < 60_000);
    });
  });

  describe('rejects', () => {
    it('an invalid key', async () => {
      for (const body of [
        {},
        { name: 'x' },
        { name: '', scope: 'personal' },
        { name: 'x'.repeat(256), scope: 'personal' },
        { name: 'NUL \0', scope: 'personal' },
        { name: 'x', scope: 'everything' },
        { name: 'x', scope: 'org-wide', ownerId: world.ada.userId },
        { name: 'x', scope: 'personal', ownerId: 5 },
        { name: 'x', scope: 'personal', ownerId: 'NUL \0' },
        { name: 'x', scope: 'personal', createdBy: 'somebody else' },
      ])
        assertRefused(await world.ada.post('/keys', body), 400);
    });

    it('a key for a person who is not a member, and the revocation of a key that does not exist', async () => {
      const foreign = { name: 'x', scope: 'personal', ownerId: world.eve.userId };
      assertRefused(await world.ada.post('/keys', foreign), 404);
      assertRefused(await world.ada.post('/keys/key_nonsense/revoke'), 404);
    });

    it('new keys while the public API is not enabled', async () => {
      const { service, globex, eve } = world;
      const { key } = await makeKey(eve, { name: 'Before', scope: 'personal' });
      await service.skein('org', 'set', globex, '--api', 'off');
      for (const scope of ['personal', 'org-wide']) {
        assertRefused(await eve.post('/keys', { name: 'x', scope }), 403, /not enabled/);
      }
      assert.equal((await openApi(key).list()).status, 404);
      await service.skein('org', 'set', globex, '--api', 'on');
    });
  });

  describe('protects', () => {
    it('people from keys that an admin creates in their name', async () => {
      const forBen = { name: 'x', scope: 'personal', ownerId: world.ben.userId };
      assertRefused(await world.ada.post('/keys', forBen), 403, /not for another person/);
    });

    it('key creation from members', async () => {
      assertRefused(await world.ben.post('/keys', { name: 'x', scope: 'personal' }), 403, /admin/);
    });

    it("others' keys from members and from other organizations, with 404", async () => {
      const { id, key } = await makeKey(world.ada, { name: "Ada's", scope: 'personal' });
      assertRefused(await world.ben.post(`/keys/${id}/revoke`), 404);
      assertRefused(await world.eve.post(`/keys/${id}/revoke`), 404);
      assertRefused(await world.eve.intrude(world.acme, 'POST', `/keys/${id}/revoke`), 404);
      assert.equal((await openApi(key).list()).status, 200);
    });
  });
});
