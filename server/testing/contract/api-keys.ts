import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UserId } from '../../src/domain/id.ts';
import { hashOf, note, strangers, type World } from './fixture.ts';

const newKey = (userId: UserId | null, byte = 1, createdBy: UserId | null = null) => ({
  id: strangers.key(),
  name: 'CI 🔑',
  userId,
  hash: hashOf(byte),
  hint: 'eak_abcd…wxyz',
  createdBy,
});

export function describeApiKeys(world: () => World): void {
  describe('API keys', () => {
    it('finds a live key by its hash only', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      const key = newKey(userId);
      assert.equal(await store.createApiKey(organizationId, key, note()), 'created');
      const grant = { organizationId, keyId: key.id, userId, apiEnabled: true };
      assert.deepEqual(await store.findKeyGrant(hashOf(1)), grant);
      assert.equal(await store.findKeyGrant(hashOf(2)), undefined);
    });

    it('lists keys without their hash, in order of creation', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      const [first, second] = [newKey(null, 1, userId), newKey(userId, 2)];
      await store.createApiKey(organizationId, first, note());
      await store.createApiKey(organizationId, second, note());
      const { hash: _, ...shown } = first;
      const listed = await store.listApiKeys(organizationId);
      assert.deepEqual(listed[0], { ...shown, createdAt: clock.ms, revokedAt: null, lastUsedAt: null });
      assert.equal(listed[1]?.createdBy, null);
      assert.deepEqual(
        listed.map(({ id }) => id),
        [first.id, second.id],
      );
      assert.deepEqual(await store.findApiKey(organizationId, second.id), listed[1]);
      assert.equal(await store.findApiKey(organizationId, strangers.key()), undefined);
    });

    it('rejects new keys outside the beta, for non-members and for unknown organizations', async () => {
      const { store } = world();
      const outside = await world().organization({ apiEnabled: false });
      assert.equal(await store.createApiKey(outside, newKey(null), note()), 'api-disabled');
      const inside = await world().organization();
      assert.equal(await store.createApiKey(inside, newKey(strangers.user()), note()), 'not-a-member');
      assert.equal(
        await store.createApiKey(strangers.organization(), newKey(null), note()),
        'organization-missing',
      );
      assert.equal(await store.findKeyGrant(hashOf(1)), undefined);
    });

    it('applies a revocation and the end of the beta at once, also on another node', async () => {
      const { store } = world();
      const other = await world().node();
      const organizationId = await world().organization();
      const key = newKey(null);
      await store.createApiKey(organizationId, key, note());
      assert.equal((await other.findKeyGrant(hashOf(1)))?.apiEnabled, true);
      await store.updateOrganization(organizationId, { apiEnabled: false }, note());
      assert.equal((await other.findKeyGrant(hashOf(1)))?.apiEnabled, false);
      assert.equal(await other.revokeApiKey(organizationId, key.id, note()), 'revoked');
      assert.equal(await store.findKeyGrant(hashOf(1)), undefined);
    });

    it('revokes for good, and reports when there is nothing to revoke', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const key = newKey(null);
      await store.createApiKey(organizationId, key, note());
      assert.equal(await store.revokeApiKey(organizationId, key.id, note()), 'revoked');
      const revokedAt = clock.ms;
      clock.ms += 1000;
      assert.equal(await store.revokeApiKey(organizationId, key.id, note()), 'revoked');
      assert.equal((await store.listApiKeys(organizationId))[0]?.revokedAt, revokedAt);
      assert.equal(await store.revokeApiKey(organizationId, strangers.key(), note()), 'missing');
    });
  });
}
