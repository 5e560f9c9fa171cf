import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { note, type World } from './fixture.ts';

export function describeQuotas(world: () => World): void {
  describe('quotas', () => {
    it('counts down to zero and then grants nothing', async () => {
      const organization = await world().organization({ dailyQuota: 2 });
      const use = () => world().use(organization, 1);
      assert.deepEqual(await use(), { granted: true, limit: 2, remaining: 1 });
      assert.deepEqual(await use(), { granted: true, limit: 2, remaining: 0 });
      assert.deepEqual(await use(), { granted: false, limit: 2, remaining: 0 });
    });

    it('grants exactly the quota to any number of concurrent requests on two nodes', async () => {
      const organization = await world().organization({ dailyQuota: 100 });
      const nodes = [world().store, await world().node()];
      const uses = await Promise.all(
        Array.from({ length: 400 }, (_, index) => world().use(organization, 1, nodes[index % 2])),
      );
      assert.equal(uses.filter(({ granted }) => granted).length, 100);
      assert.equal((await world().use(organization, 1)).granted, false);
    });

    it('returns to each of several concurrent requests how many are left after it', async () => {
      const organization = await world().organization({ dailyQuota: 3 });
      const uses = await Promise.all([1, 2, 3, 4, 5].map(() => world().use(organization, 1)));
      assert.deepEqual(
        uses.map(({ remaining }) => remaining),
        [2, 1, 0, 0, 0],
      );
    });

    it('resets each day and counts organizations separately', async () => {
      const organization = await world().organization({ dailyQuota: 1 });
      const other = await world().organization({ dailyQuota: 1 });
      assert.equal((await world().use(organization, 1)).granted, true);
      assert.equal((await world().use(organization, 1)).granted, false);
      assert.equal((await world().use(organization, 2)).granted, true);
      assert.equal((await world().use(other, 1)).granted, true);
    });

    it('applies a raised or lowered quota at once', async () => {
      const { store } = world();
      const organization = await world().organization({ dailyQuota: 1 });
      await world().use(organization, 1);
      await store.updateOrganization(organization, { dailyQuota: 2 }, note());
      assert.deepEqual(await world().use(organization, 1), { granted: true, limit: 2, remaining: 0 });
      await store.updateOrganization(organization, { dailyQuota: 1 }, note());
      assert.deepEqual(await world().use(organization, 1), { granted: false, limit: 1, remaining: 0 });
    });

    it('is shared with another node', async () => {
      const organization = await world().organization({ dailyQuota: 5 });
      await world().use(organization, 1);
      const later = await world().node();
      assert.equal((await world().use(organization, 1, later)).remaining, 3);
    });

    it('grants nothing at a quota of 0', async () => {
      const organization = await world().organization({ dailyQuota: 0 });
      assert.equal((await world().use(organization, 1)).granted, false);
    });
  });
}
