import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashOf, strangers, type World } from './fixture.ts';

const person = (email: string) =>
  ({ candidateUserId: strangers.user(), email, role: 'admin', service: true }) as const;

export function describeMembers(world: () => World): void {
  describe('members', () => {
    it('gives back exactly what was kept', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ada = person('ada@example.org');
      assert.deepEqual(await store.addMember(organization, ada), {
        outcome: 'added',
        userId: ada.candidateUserId,
      });
      const kept = {
        userId: ada.candidateUserId,
        email: ada.email,
        role: 'admin',
        service: true,
        joinedAt: clock.ms,
      };
      assert.deepEqual(await store.findMember(organization, ada.email), kept);
      assert.deepEqual(await store.listMembers(organization), [kept]);
    });

    it('refuses a second membership and an unknown organization, and changes nothing then', async () => {
      const { store } = world();
      const organization = await world().organization();
      await store.addMember(organization, person('ada@example.org'));
      const before = await store.listMembers(organization);
      assert.deepEqual(await store.addMember(organization, person('ada@example.org')), {
        outcome: 'already-member',
      });
      assert.deepEqual(await store.listMembers(organization), before);
      const nowhere = await store.addMember(strangers.organization(), person('bob@example.org'));
      assert.deepEqual(nowhere, { outcome: 'organization-missing' });
    });

    it('knows a person by one id in every organization, and after they came back', async () => {
      const { store } = world();
      const one = await world().organization();
      const other = await world().organization();
      const userId = await world().member(one, 'ada@example.org');
      assert.equal(await world().member(other, 'ada@example.org'), userId);
      await store.removeMember(one, 'ada@example.org');
      assert.equal(await world().member(one, 'ada@example.org'), userId);
    });

    it('revokes the personal keys of a leaver, there only, and does not revive them', async () => {
      const { store } = world();
      const one = await world().organization();
      const other = await world().organization();
      const userId = await world().member(one, 'ada@example.org');
      await world().member(other, 'ada@example.org');
      const key = (byte: number) => ({ id: strangers.key(), name: '', userId, hash: hashOf(byte), hint: '' });
      await store.createApiKey(one, key(1));
      await store.createApiKey(one, key(2));
      await store.createApiKey(other, key(3));
      await store.createApiKey(one, { ...key(4), userId: null });

      const removed = await store.removeMember(one, 'ada@example.org');
      assert.deepEqual(removed, { outcome: 'removed', userId, keysRevoked: 2 });
      const live = async (byte: number) => (await store.findKeyGrant(hashOf(byte))) !== undefined;
      assert.deepEqual(await Promise.all([1, 2, 3, 4].map(live)), [false, false, true, true]);
      await world().member(one, 'ada@example.org');
      assert.deepEqual(await Promise.all([1, 2, 3, 4].map(live)), [false, false, true, true]);
    });

    it('says so when there is nobody to remove', async () => {
      const organization = await world().organization();
      assert.deepEqual(await world().store.removeMember(organization, 'nobody@example.org'), {
        outcome: 'missing',
      });
    });
  });
}
