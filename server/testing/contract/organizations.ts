import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { granted, note, strangers, type World } from './fixture.ts';

export function describeOrganizations(world: () => World): void {
  describe('organizations', () => {
    it('returns exactly what was stored', async () => {
      const { store, clock } = world();
      const organization = { id: strangers.organization(), name: 'Ünï 🧶', apiEnabled: false, dailyQuota: 0 };
      await store.createOrganization(organization, note());
      assert.deepEqual(await store.findOrganization(organization.id), {
        ...organization,
        createdAt: clock.ms,
      });
    });

    it('changes only the given values', async () => {
      const { store } = world();
      const id = await world().organization({ apiEnabled: true, dailyQuota: 7 });
      assert.equal(granted(await store.updateOrganization(id, { dailyQuota: 8 }, note()))?.apiEnabled, true);
      const changed = granted(await store.updateOrganization(id, { apiEnabled: false }, note()));
      assert.equal(changed?.dailyQuota, 8);
      assert.equal(changed?.apiEnabled, false);
      assert.equal(
        await store.updateOrganization(strangers.organization(), { dailyQuota: 1 }, note()),
        undefined,
      );
    });

    it('finds an organization by name only if the name is unique', async () => {
      const { store } = world();
      const id = await world().organization({ name: 'Twin' });
      assert.equal((await store.findOrganization('Twin'))?.id, id);
      await world().organization({ name: 'Twin' });
      assert.equal(await store.findOrganization('Twin'), undefined);
    });

    it('lists organizations in the order of creation', async () => {
      const made = [await world().organization(), await world().organization(), await world().organization()];
      const listed = await world().store.listOrganizations();
      assert.deepEqual(
        listed.map(({ id }) => id),
        made,
      );
    });

    it('keeps the first value of a secret, on every node', async () => {
      const other = await world().node();
      const first = await world().store.secret('a', new Uint8Array([1, 2, 0, 255]));
      const second = await other.secret('a', new Uint8Array([9]));
      assert.deepEqual([...first], [1, 2, 0, 255]);
      assert.deepEqual([...second], [1, 2, 0, 255]);
      assert.deepEqual([...(await other.secret('b', new Uint8Array([9])))], [9]);
    });

    it('answers a ping while it is open and reports no problems', async () => {
      await world().store.ping();
      for (const { check, ok, detail } of await world().store.diagnose())
        assert.ok(ok, `${check}: ${detail}`);
    });
  });
}
