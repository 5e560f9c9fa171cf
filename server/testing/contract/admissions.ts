import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHash, note, strangers, type World } from './fixture.ts';

const day = 20_000;

export function describeAdmissions(world: () => World): void {
  describe('admissions', () => {
    async function keyed(change: Parameters<World['organization']>[0] = {}) {
      const { store } = world();
      const organization = await world().organization(change);
      const userId = await world().member(organization);
      const personal = {
        id: strangers.key(),
        name: '',
        userId,
        hash: fakeHash(1),
        hint: '',
        createdBy: null,
      };
      const orgWide = {
        id: strangers.key(),
        name: '',
        userId: null,
        hash: fakeHash(2),
        hint: '',
        createdBy: null,
      };
      await store.createApiKey(organization, personal, note());
      await store.createApiKey(organization, orgWide, note());
      return { organization, userId, personal, orgWide };
    }

    it('return the owner of a key and count one request against its quota', async () => {
      const { store } = world();
      const { organization, userId, personal, orgWide } = await keyed({ dailyQuota: 3 });
      assert.deepEqual(await store.admitKey(personal.hash, day), {
        organizationId: organization,
        userId,
        credentialId: personal.id,
        use: { granted: true, limit: 3, remaining: 2 },
      });
      assert.deepEqual(await store.admitKey(orgWide.hash, day), {
        organizationId: organization,
        userId: null,
        credentialId: orgWide.id,
        use: { granted: true, limit: 3, remaining: 1 },
      });
      assert.deepEqual((await world().use(organization, day)).remaining, 0);
      assert.deepEqual((await store.admitKey(personal.hash, day))?.use, {
        granted: false,
        limit: 3,
        remaining: 0,
      });
      assert.equal((await store.admitKey(personal.hash, day + 1))?.use?.remaining, 2);
    });

    it('reject an unknown or revoked key as soon as it is committed, on every node, and count nothing', async () => {
      const { store } = world();
      const { organization, personal } = await keyed();
      const other = await world().node();
      assert.equal(await store.admitKey(fakeHash(9), day), undefined);
      assert.ok(await other.admitKey(personal.hash, day));
      await store.revokeApiKey(organization, personal.id, note());
      assert.equal(await store.admitKey(personal.hash, day), undefined);
      assert.equal(await other.admitKey(personal.hash, day), undefined);
      assert.equal((await world().use(organization, day)).remaining, 8);
    });

    it('accept a request that arrives while an earlier write of the same turn is answered', async () => {
      const { store } = world();
      const { personal } = await keyed();
      const renewed = store.renewReplies([], 1000);
      const first = store.admitKey(personal.hash, day);
      assert.ok(await renewed.then(() => store.admitKey(personal.hash, day)));
      assert.ok(await first);
    });

    it('count nothing for an organization without the public API', async () => {
      const { store } = world();
      const { organization, personal } = await keyed();
      await store.updateOrganization(organization, { apiEnabled: false }, note());
      const admission = await store.admitKey(personal.hash, day);
      assert.equal(admission?.organizationId, organization);
      assert.equal(admission?.use, undefined);
      await store.updateOrganization(organization, { apiEnabled: true }, note());
      assert.equal((await world().use(organization, day)).remaining, 9);
    });

    it('accept applications with the right epoch and organization only', async () => {
      const { store } = world();
      const { organization } = await keyed();
      const foreign = await world().organization();
      const application = { id: strangers.application(), name: 'A', secretHash: fakeHash(3) };
      await store.createApplication(organization, application, note());
      assert.deepEqual(await store.admitApplication(organization, application.id, 1, day), {
        organizationId: organization,
        userId: null,
        credentialId: application.id,
        use: { granted: true, limit: 10, remaining: 9 },
      });
      assert.equal(await store.admitApplication(organization, application.id, 2, day), undefined);
      assert.equal(await store.admitApplication(foreign, application.id, 1, day), undefined);
      await store.rotateApplication(organization, application.id, fakeHash(4), note());
      assert.equal(await store.admitApplication(organization, application.id, 1, day), undefined);
      assert.ok(await store.admitApplication(organization, application.id, 2, day));
      await store.deleteApplication(organization, application.id, note());
      for (const epoch of [2, 3]) {
        assert.equal(await store.admitApplication(organization, application.id, epoch, day), undefined);
      }
      assert.equal((await world().use(organization, day)).remaining, 7);
    });

    it('see a change on another node with the next request, however often the credential was used', async () => {
      const { store, clock } = world();
      const other = await world().node();
      const { organization, userId, personal } = await keyed({ dailyQuota: 1000 });
      const email = (await store.findMemberById(organization, userId))!.email;
      const next = { id: strangers.key(), hash: fakeHash(5), hint: '' };
      const rotation = { next, createdBy: null, oldValidMs: 1000 };
      const admit = async (hash: string) => {
        for (const _ of [1, 2, 3]) await other.admitKey(hash, day);
        return other.admitKey(hash, day);
      };
      const readLimit = async () => (await admit(personal.hash))?.use?.limit;

      assert.equal(await readLimit(), 1000);
      await store.updateOrganization(organization, { dailyQuota: 500 }, note());
      assert.equal((await other.admitKey(personal.hash, day))?.use?.limit, 500);
      await store.updateOrganization(organization, { apiEnabled: false }, note());
      assert.deepEqual((await other.admitKey(personal.hash, day))?.use, undefined);
      await store.updateOrganization(organization, { apiEnabled: true }, note());
      assert.equal(await readLimit(), 500);

      assert.equal(await store.rotateApiKey(organization, personal.id, rotation, note()), 'rotated');
      clock.pass(999);
      assert.ok(await admit(personal.hash));
      clock.pass(1);
      assert.equal(await other.admitKey(personal.hash, day), undefined);
      assert.equal((await admit(next.hash))?.userId, userId);
      await store.removeMember(organization, email, false, note());
      assert.equal(await other.admitKey(next.hash, day), undefined);
    });

    it('grant exactly the quota to concurrent requests with several credentials on two nodes', async () => {
      const { personal, orgWide } = await keyed({ dailyQuota: 25 });
      const nodes = [world().store, await world().node()];
      const admissions = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          nodes[index % 2]!.admitKey(index % 3 === 0 ? personal.hash : orgWide.hash, day),
        ),
      );
      const granted = admissions.filter((admission) => admission?.use?.granted);
      assert.equal(granted.length, 25);
      const left = granted.map((admission) => admission?.use?.remaining).sort((a, b) => a! - b!);
      assert.deepEqual(
        left,
        Array.from({ length: 25 }, (_, index) => index),
      );
    });
  });
}
