import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { UserId } from '../../src/domain/id.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { fakeHash, newApplication, note, strangers, type World } from './fixture.ts';

export const newKey = (userId: UserId | null, byte = 1, createdBy: UserId | null = null) => ({
  id: strangers.key(),
  name: 'CI 🔑',
  userId,
  hash: fakeHash(byte),
  hint: 'eak_abcd…wxyz',
  createdBy,
});

const keyNumber = (number: number) => ({ ...newKey(null), hash: hash('sha256', `key ${number}`) });

export function describeApiKeys(world: () => World): void {
  describe('API keys', () => {
    it('finds a live key by its hash only', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      const key = newKey(userId);
      assert.equal(await store.createApiKey(organizationId, key, note()), 'created');
      const grant = { organizationId, keyId: key.id, userId, apiEnabled: true };
      assert.deepEqual(await store.findKeyGrant(fakeHash(1)), grant);
      assert.equal(await store.findKeyGrant(fakeHash(2)), undefined);
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

    it('rejects new keys without the public API, for non-members and for unknown organizations', async () => {
      const { store } = world();
      const outside = await world().organization({ apiEnabled: false });
      assert.equal(await store.createApiKey(outside, newKey(null), note()), 'api-disabled');
      const inside = await world().organization();
      assert.equal(await store.createApiKey(inside, newKey(strangers.user()), note()), 'not-a-member');
      assert.equal(
        await store.createApiKey(strangers.organization(), newKey(null), note()),
        'organization-missing',
      );
      assert.equal(await store.findKeyGrant(fakeHash(1)), undefined);
    });

    it('applies a revocation and the disabling of the public API at once, on every node', async () => {
      const { store } = world();
      const other = await world().node();
      const organizationId = await world().organization();
      const key = newKey(null);
      await store.createApiKey(organizationId, key, note());
      assert.equal((await other.findKeyGrant(fakeHash(1)))?.apiEnabled, true);
      await store.updateOrganization(organizationId, { apiEnabled: false }, note());
      assert.equal((await other.findKeyGrant(fakeHash(1)))?.apiEnabled, false);
      assert.equal(await other.revokeApiKey(organizationId, key.id, note()), 'revoked');
      assert.equal(await store.findKeyGrant(fakeHash(1)), undefined);
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

    it('limits live keys, even when many are created at once on two nodes', async () => {
      const { store } = world();
      const nodes = [store, await world().node()];
      const organizationId = await world().organization();
      const max = defaultLimits.organizationKeysMax;
      const keys = Array.from({ length: max + 2 }, (_, index) => keyNumber(index));
      const outcomes: string[] = [];
      // Not all at once: on a slow machine, the last ones would wait too long for a connection.
      for (let first = 0; first < keys.length; first += 167) {
        const some = keys.slice(first, first + 167);
        const creates = some.map((key, index) => nodes[index % 2]!.createApiKey(organizationId, key, note()));
        outcomes.push(...(await Promise.all(creates)));
      }
      assert.equal(outcomes.filter((outcome) => outcome === 'created').length, max);
      assert.equal(outcomes.filter((outcome) => outcome === 'too-many').length, 2);
      const listed = await store.listApiKeys(organizationId);
      assert.equal(listed.length, max);
      const [first, second] = listed.map(({ id }) => id);
      const rotate = (number: number, oldValidMs: number) =>
        store.rotateApiKey(
          organizationId,
          first!,
          { next: keyNumber(number), createdBy: null, oldValidMs },
          note(),
        );
      assert.equal(await rotate(5000, 1000), 'too-many', 'the old key would stay valid');
      assert.equal(await rotate(5001, 0), 'rotated');
      assert.equal(await store.createApiKey(organizationId, keyNumber(5002), note()), 'too-many');
      await store.revokeApiKey(organizationId, second!, note());
      assert.equal(await store.createApiKey(organizationId, keyNumber(5003), note()), 'created');
      const other = await world().organization();
      assert.equal(await store.createApiKey(other, keyNumber(5004), note()), 'created');
    });

    it('lists live keys with the latest revoked ones', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const live = keyNumber(0);
      await store.createApiKey(organizationId, live, note());
      const revoked = Array.from({ length: defaultLimits.revokedKeysListedMax + 2 }, (_, index) =>
        keyNumber(index + 1),
      );
      for (const key of revoked) {
        clock.pass(1);
        await store.createApiKey(organizationId, key, note());
        await store.revokeApiKey(organizationId, key.id, note());
      }
      const listed = (await store.listApiKeys(organizationId)).map(({ id }) => id);
      assert.deepEqual(listed, [live.id, ...revoked.slice(2).map(({ id }) => id)]);
      assert.equal((await store.findApiKey(organizationId, revoked[0]!.id))?.id, revoked[0]!.id);
    });

    it('looks up the names of credentials by id', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      const [named, unnamed] = [newKey(userId), { ...newKey(null, 2), name: '' }];
      const [application, deleted] = [newApplication(), newApplication()];
      for (const key of [named, unnamed]) await store.createApiKey(organizationId, key, note());
      for (const each of [application, deleted]) await store.createApplication(organizationId, each, note());
      await store.revokeApiKey(organizationId, named.id, note());
      await store.deleteApplication(organizationId, deleted.id, note());
      const ids = [named, unnamed, application, deleted].map(({ id }) => id);
      const found = await store.nameCredentials(organizationId, [...ids, strangers.key()]);
      assert.deepEqual(
        new Map(found.map(({ id, ...name }) => [id, name])),
        new Map<string, object>([
          [named.id, { name: named.name }],
          [unnamed.id, { name: unnamed.hint }],
          [application.id, { name: application.name }],
        ]),
      );
      assert.deepEqual(await store.nameCredentials(await world().organization(), ids), []);
    });
  });
}
