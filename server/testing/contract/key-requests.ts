import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyRequestId, OrganizationId, UserId } from '../../src/domain/id.ts';
import type { Store } from '../../src/storage/port/store.ts';
import { day, freshHash } from './account-fixture.ts';
import { by, granted, note, noteBy, strangers, type World } from './fixture.ts';

let requests = 0;

const newSecret = () => ({ id: strangers.key(), hash: freshHash(), hint: 'eak_abcd…wxyz' });

export function describeKeyRequests(world: () => World): void {
  async function ask(organizationId: OrganizationId, userId: UserId, store: Store = world().store) {
    requests += 1;
    const id = `req_${String(requests).padStart(6, '0')}` as KeyRequestId;
    const request = { id, name: 'Laptop', keepMs: day, waitingMax: 2 };
    const requested = note('key.requested', id, { authority: by(userId) });
    return { id, outcome: await store.createKeyRequest(organizationId, request, requested) };
  }

  async function decide(
    organizationId: OrganizationId,
    id: KeyRequestId,
    admin: UserId,
    state: 'approved' | 'declined' = 'approved',
  ) {
    const decided = note(`key.${state}`, id);
    return world().store.decideKeyRequest(organizationId, id, { state, by: admin, keepMs: day }, decided);
  }

  async function organizationOfTwo() {
    const organization = await world().organization();
    const admin = await world().member(organization, 'admin@example.org');
    const userId = await world().member(organization, 'ada@example.org');
    return { organization, admin, userId };
  }

  async function actions(organization: OrganizationId): Promise<string[]> {
    const events = (await world().store.listAudit(organization, { limit: 100 })).events;
    return events.map(({ action }) => action).filter((action) => action.startsWith('key.'));
  }

  describe('key requests', () => {
    it('become one key of their owner when they are approved and revealed', async () => {
      const { store, clock } = world();
      const { organization, admin, userId } = await organizationOfTwo();
      const { id, outcome } = await ask(organization, userId);
      assert.equal(outcome, 'created');
      const requestedAt = clock.ms;
      const request = { id, userId, name: 'Laptop', requestedAt };
      assert.deepEqual(await store.listKeyRequests(organization), [
        { ...request, state: 'pending', expiresAt: requestedAt + day },
      ]);
      const secret = newSecret();
      const redeem = (user: UserId) =>
        store.redeemKeyRequest(
          organization,
          id,
          secret,
          note('key.revealed', secret.id, { authority: by(user) }),
        );
      assert.equal(await redeem(userId), 'missing', 'not before it is approved');
      clock.pass(5);
      assert.equal(await decide(organization, id, admin), 'decided');
      assert.equal(await decide(organization, id, admin, 'declined'), 'missing', 'decided once');
      assert.deepEqual(await store.listKeyRequests(organization), [
        { ...request, state: 'approved', expiresAt: requestedAt + 5 + day },
      ]);
      assert.equal(await redeem(admin), 'missing', 'for its owner only');
      assert.equal(await store.findKeyGrant(secret.hash), undefined);
      assert.equal(await redeem(userId), 'created');
      assert.equal(await redeem(userId), 'missing', 'once');
      assert.deepEqual(await store.findKeyGrant(secret.hash), {
        organizationId: organization,
        keyId: secret.id,
        userId,
        apiEnabled: true,
      });
      const [key] = await store.listApiKeys(organization);
      assert.deepEqual([key?.name, key?.userId, key?.createdBy], ['Laptop', userId, admin]);
      assert.deepEqual(await store.listKeyRequests(organization), []);
      assert.deepEqual(await actions(organization), ['key.revealed', 'key.approved', 'key.requested']);
    });

    it('create no key when they are declined or have expired', async () => {
      const { store, clock } = world();
      const { organization, admin, userId } = await organizationOfTwo();
      const [declined, late] = [await ask(organization, userId), await ask(organization, userId)];
      assert.equal(await decide(organization, declined.id, admin, 'declined'), 'decided');
      assert.equal(await decide(organization, late.id, admin), 'decided');
      const redeem = (id: KeyRequestId) =>
        store.redeemKeyRequest(organization, id, newSecret(), noteBy(userId));
      assert.equal(await redeem(declined.id), 'missing');
      clock.pass(day);
      assert.equal(await redeem(late.id), 'missing');
      assert.deepEqual(await store.listKeyRequests(organization), []);
      const { id } = await ask(organization, userId);
      clock.pass(day);
      assert.equal(await decide(organization, id, admin), 'missing');
      assert.deepEqual(await store.listApiKeys(organization), []);
    });

    it('are limited per member, even when many arrive at once on two nodes', async () => {
      const { store, clock } = world();
      const nodes = [store, await world().node()];
      const { organization, admin, userId } = await organizationOfTwo();
      const asked = await Promise.all(
        Array.from({ length: 8 }, (_, index) => ask(organization, userId, nodes[index % 2])),
      );
      const created = asked.filter(({ outcome }) => outcome === 'created');
      assert.equal(created.length, 2);
      assert.ok(asked.every(({ outcome }) => outcome === 'created' || outcome === 'too-many'));
      assert.equal((await ask(organization, admin)).outcome, 'created', 'each member has their own limit');
      await decide(organization, created[0]!.id, admin);
      assert.equal((await ask(organization, userId)).outcome, 'too-many', 'approved requests count');
      await decide(organization, created[1]!.id, admin, 'declined');
      assert.equal((await ask(organization, userId)).outcome, 'created');
      const states = (await store.listKeyRequests(organization)).map(({ state }) => state);
      assert.ok(!states.includes('declined'), 'a new request replaces declined ones');
      clock.pass(day);
      assert.equal((await ask(organization, userId)).outcome, 'created', 'expired requests do not count');
    });

    it('are rejected for service accounts, non-members and other organizations, and without the public API', async () => {
      const { store } = world();
      const { organization, admin, userId } = await organizationOfTwo();
      const foreign = await world().organization();
      const robot = await store.addMember(
        organization,
        {
          candidateUserId: strangers.user(),
          email: 'r@example.org',
          role: 'member',
          service: true,
          membersMax: 10,
        },
        note(),
      );
      assert.ok(robot !== 'unauthorized' && robot.outcome === 'added');
      for (const [home, user] of [
        [organization, robot.userId],
        [organization, strangers.user()],
        [foreign, userId],
      ] as const)
        assert.equal((await ask(home, user)).outcome, 'not-a-member');
      const { id } = await ask(organization, userId);
      assert.equal(await decide(foreign, id, admin), 'missing');
      assert.deepEqual(await store.listKeyRequests(foreign), []);
      assert.equal(await decide(organization, id, admin), 'decided');
      assert.equal(await store.redeemKeyRequest(foreign, id, newSecret(), noteBy(userId)), 'missing');
      await store.updateOrganization(organization, { apiEnabled: false }, note());
      assert.equal((await ask(organization, userId)).outcome, 'api-disabled');
      const refused = await store.redeemKeyRequest(organization, id, newSecret(), noteBy(userId));
      assert.equal(refused, 'api-disabled');
    });

    it('are removed with their membership', async () => {
      const { store } = world();
      const { organization, admin, userId } = await organizationOfTwo();
      const { id } = await ask(organization, userId);
      await decide(organization, id, admin);
      await store.removeMember(organization, 'ada@example.org', false, note());
      assert.deepEqual(await store.listKeyRequests(organization), []);
      assert.equal(await world().member(organization, 'ada@example.org'), userId);
      assert.equal(await store.redeemKeyRequest(organization, id, newSecret(), noteBy(userId)), 'missing');
    });
  });

  describe('rotating a key', () => {
    async function addKey(organization: OrganizationId, userId: UserId | null) {
      const key = { ...newSecret(), name: 'CI', userId, createdBy: null };
      assert.equal(await world().store.createApiKey(organization, key, note()), 'created');
      return key;
    }

    const rotate = (
      organization: OrganizationId,
      key: { id: ReturnType<typeof strangers.key> },
      oldValidMs = 0,
    ) => {
      const next = newSecret();
      const rotation = { next, createdBy: null, oldValidMs };
      const rotated = world().store.rotateApiKey(organization, key.id, rotation, note('key.rotated', key.id));
      return { next, rotated };
    };

    it('creates a key with the same name and owner and ends the old one at once', async () => {
      const { store } = world();
      const { organization, userId } = await organizationOfTwo();
      for (const owner of [userId, null]) {
        const old = await addKey(organization, owner);
        const { next, rotated } = rotate(organization, old);
        assert.equal(await rotated, 'rotated');
        assert.equal(await store.findKeyGrant(old.hash), undefined);
        assert.deepEqual(await store.findKeyGrant(next.hash), {
          organizationId: organization,
          keyId: next.id,
          userId: owner,
          apiEnabled: true,
        });
        assert.equal((await store.listApiKeys(organization)).at(-1)?.name, 'CI');
        assert.equal(await rotate(organization, old).rotated, 'revoked');
        const { rotated: missing } = rotate(await world().organization(), next);
        assert.equal(await missing, 'missing');
      }
      assert.deepEqual(await actions(organization), ['key.rotated', 'key.rotated']);
    });

    it("keeps the old key valid for the given time, by the store's clock, on every node", async () => {
      const { store, clock } = world();
      const node = await world().node();
      const { organization, userId } = await organizationOfTwo();
      const old = await addKey(organization, userId);
      assert.equal(await rotate(organization, old, day).rotated, 'rotated');
      const writer = { kind: 'key', userId, keyHash: old.hash } as const;
      const thread = await world().thread(organization, userId);
      clock.pass(day - 1);
      assert.ok(await node.findKeyGrant(old.hash));
      assert.ok(await node.admitKey(old.hash, 1));
      assert.equal(
        granted(await store.renameThread(organization, thread.id, 'a', writer)).outcome,
        'renamed',
      );
      assert.equal(await rotate(organization, old).rotated, 'revoked', 'it was already rotated');
      clock.pass(1);
      for (const one of [store, node]) {
        assert.equal(await one.findKeyGrant(old.hash), undefined);
        assert.equal(await one.admitKey(old.hash, 1), undefined);
        assert.equal(await one.renameThread(organization, thread.id, 'b', writer), 'unauthorized');
        const deleted = note('thread.deleted', thread.id, { authority: writer });
        assert.equal(await one.deleteThread(organization, thread.id, deleted), 'unauthorized');
      }
    });

    it('leaves an old key that can still be revoked, alone or with its member', async () => {
      const { store, clock } = world();
      const { organization, userId } = await organizationOfTwo();
      const [revoked, left] = [await addKey(organization, null), await addKey(organization, userId)];
      for (const key of [revoked, left])
        assert.equal(await rotate(organization, key, day).rotated, 'rotated');
      assert.equal(await store.revokeApiKey(organization, revoked.id, note('key.revoked')), 'revoked');
      assert.equal(await store.findKeyGrant(revoked.hash), undefined);
      const removed = await store.removeMember(organization, 'ada@example.org', false, note());
      assert.deepEqual(removed, { outcome: 'removed', userId, keysRevoked: 2 });
      assert.equal(await store.findKeyGrant(left.hash), undefined);
      const keys = await store.listApiKeys(organization);
      assert.equal(keys.find(({ id }) => id === left.id)?.revokedAt, clock.ms);
      assert.equal(await rotate(organization, { id: left.id }).rotated, 'missing', 'its owner is gone');
    });

    it('is rejected without the public API and changes nothing', async () => {
      const { store } = world();
      const { organization } = await organizationOfTwo();
      const old = await addKey(organization, null);
      await store.updateOrganization(organization, { apiEnabled: false }, note());
      const { next, rotated } = rotate(organization, old);
      assert.equal(await rotated, 'api-disabled');
      assert.equal(await store.findKeyGrant(next.hash), undefined);
      assert.ok(await store.findKeyGrant(old.hash));
    });

    it('creates one successor when two nodes rotate at once', async () => {
      const { store } = world();
      const node = await world().node();
      const { organization } = await organizationOfTwo();
      for (let round = 0; round < 5; round += 1) {
        const old = await addKey(organization, null);
        const outcomes = await Promise.all(
          [store, node, store].map((one) =>
            one.rotateApiKey(
              organization,
              old.id,
              { next: newSecret(), createdBy: null, oldValidMs: 0 },
              note(),
            ),
          ),
        );
        assert.deepEqual(outcomes.toSorted(), ['revoked', 'revoked', 'rotated']);
      }
    });
  });
}
