import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounting, newMember } from './account-fixture.ts';
import { fakeHash, granted, note, strangers, type World } from './fixture.ts';

const email = 'ada@example.org';

export function describeMembers(world: () => World): void {
  describe('members', () => {
    it('limits how many members an organization has', async () => {
      const { store } = world();
      const organization = await world().organization();
      const add = (name: string) =>
        store.addMember(organization, newMember(`${name}@example.org`, { membersMax: 2 }), note());
      const outcomes = (await Promise.all(['a', 'b', 'c'].map(add))).map((added) => granted(added).outcome);
      assert.deepEqual(outcomes.toSorted(), ['added', 'added', 'too-many']);
      assert.equal(await store.countMembers(organization), 2);
      const [first] = await store.listMembers(organization);
      const again = newMember(first!.email, { membersMax: 2 });
      assert.equal(granted(await store.addMember(organization, again, note())).outcome, 'already-member');
      await store.removeMember(organization, first!.email, false, note());
      assert.equal(granted(await add('d')).outcome, 'added');
    });

    it('returns exactly what was stored', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ada = newMember(email, { role: 'admin', service: true });
      assert.deepEqual(await store.addMember(organization, ada, note()), {
        outcome: 'added',
        userId: ada.candidateUserId,
      });
      const kept = {
        userId: ada.candidateUserId,
        email,
        role: 'admin',
        service: true,
        joinedAt: clock.ms,
        opened: false,
        invitedUntil: null,
        mailState: null,
      };
      assert.deepEqual(await store.findMember(organization, email), kept);
      assert.deepEqual(await store.findMemberById(organization, ada.candidateUserId), kept);
      assert.equal(await store.findMemberById(organization, strangers.user()), undefined);
      assert.deepEqual(await store.listMembers(organization), [kept]);
    });

    it('lists members in the order of joining', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const addresses = ['carol@example.org', 'ada@example.org', 'bob@example.org'];
      for (const address of addresses) {
        await people.add(organization, address);
        clock.pass(1);
      }
      assert.deepEqual(
        (await store.listMembers(organization)).map((member) => member.email),
        addresses,
      );
    });

    it('rejects a second membership and an unknown organization, and changes nothing', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      await people.add(organization, email);
      const before = await store.listMembers(organization);
      const again = newMember(email, { role: 'admin' });
      assert.deepEqual(await store.addMember(organization, again, note('member.added')), {
        outcome: 'already-member',
      });
      assert.deepEqual(await store.listMembers(organization), before);
      assert.equal(await people.noted(organization, 'member.added'), 1);
      const nowhere = await store.addMember(
        strangers.organization(),
        newMember('bob@example.org'),
        note('member.added'),
      );
      assert.deepEqual(nowhere, { outcome: 'organization-missing' });
    });

    it('keeps one id for a person in every organization and after they come back', async () => {
      const { store } = world();
      const one = await world().organization();
      const other = await world().organization();
      const userId = await world().member(one, email);
      assert.equal(await world().member(other, email), userId);
      await store.removeMember(one, email, false, note());
      assert.equal(await world().member(one, email), userId);
    });

    it('rejects a user who has threads in the organization only if `withoutThreads` is set', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [one, other] = [await world().organization(), await world().organization()];
      const userId = await world().member(one, email);
      await world().thread(one, userId);
      const again = { ...newMember(email, { service: true }), withoutThreads: true };
      assert.deepEqual(await store.addMember(one, again, note()), { outcome: 'already-member' });
      await store.removeMember(one, email, false, note());
      assert.deepEqual(await store.addMember(one, again, note('member.added')), { outcome: 'has-threads' });
      assert.deepEqual(await store.listMembers(one), []);
      assert.equal(await people.noted(one, 'member.added', userId), 1);
      assert.deepEqual(await store.addMember(other, again, note()), { outcome: 'added', userId });
      const stranger = { ...newMember('bot@example.org', { service: true }), withoutThreads: true };
      assert.equal(granted(await store.addMember(one, stranger, note())).outcome, 'added');
      await people.add(one, email);
      assert.equal((await store.findMember(one, email))?.userId, userId);
    });

    it('accepts a former member who has threads if the address is proven, because no link sets a password then', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const again = async (email: string) => {
        await store.removeMember(organization, email, false, note());
        const member = { ...newMember(email), withoutThreads: true };
        return granted(await store.addMember(organization, member, note('member.added'))).outcome;
      };
      for (const [email, prove, outcome] of [
        ['none@example.org', undefined, 'has-threads'],
        ['chosen@example.org', {}, 'has-threads'],
        ['operator@example.org', { byOperator: true }, 'added'],
      ] as const) {
        const userId = await people.add(organization, email);
        if (prove !== undefined) await people.join(organization, userId, 'first', prove);
        assert.equal(await again(email), 'added', 'without threads');
        await world().thread(organization, userId);
        assert.equal(await again(email), outcome);
      }
      const bound = await people.add(organization, email);
      await world().thread(organization, bound);
      await people.bind(email);
      assert.equal(await again(email), 'added');
    });

    it("writes the note of a new member under the person's id", async () => {
      const people = new Accounting(world());
      const [one, other] = [await world().organization(), await world().organization()];
      const userId = await people.add(one, email);
      await people.add(other, email);
      assert.equal(await people.noted(one, 'member.added', userId), 1);
      assert.equal(await people.noted(other, 'member.added', userId), 1);
    });

    it('revokes the personal keys of a former member in that organization only, for good', async () => {
      const { store } = world();
      const one = await world().organization();
      const other = await world().organization();
      const userId = await world().member(one, email);
      await world().member(other, email);
      const key = (byte: number) => ({
        ...{ id: strangers.key(), name: '', userId, hash: fakeHash(byte), hint: '' },
        createdBy: null,
      });
      await store.createApiKey(one, key(1), note());
      await store.createApiKey(one, key(2), note());
      await store.createApiKey(other, key(3), note());
      await store.createApiKey(one, { ...key(4), userId: null }, note());

      const removed = await store.removeMember(one, email, true, note());
      assert.deepEqual(removed, { outcome: 'removed', userId, keysRevoked: 2 });
      const live = async (byte: number) => (await store.findKeyGrant(fakeHash(byte))) !== undefined;
      assert.deepEqual(await Promise.all([1, 2, 3, 4].map(live)), [false, false, true, true]);
      await world().member(one, email);
      assert.deepEqual(await Promise.all([1, 2, 3, 4].map(live)), [false, false, true, true]);
    });

    it('reports when there is no one to remove, and writes notes of real removals only', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [organization, foreign] = [await world().organization(), await world().organization()];
      const userId = await people.add(organization, email);
      const remove = (home: typeof organization, address: string) =>
        store.removeMember(home, address, false, note('member.removed', userId));
      assert.deepEqual(await remove(organization, 'nobody@example.org'), { outcome: 'missing' });
      assert.deepEqual(await remove(foreign, email), { outcome: 'missing' });
      assert.equal(await people.noted(organization, 'member.removed'), 0);
      assert.deepEqual(await remove(organization, email), { outcome: 'removed', userId, keysRevoked: 0 });
      assert.equal(await people.noted(organization, 'member.removed', userId), 1);
      assert.equal(await people.noted(foreign, 'member.removed'), 0);
    });
  });

  describe('roles', () => {
    it('changes a role in one organization only, and writes a note of it', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [one, other] = [await world().organization(), await world().organization()];
      const userId = await people.add(one, email);
      await people.add(other, email);
      const promote = () => store.setMemberRole(one, userId, 'admin', note('member.role-changed', userId));
      assert.equal(await promote(), 'changed');
      assert.equal((await store.findMember(one, email))?.role, 'admin');
      assert.equal((await store.findMember(other, email))?.role, 'member');
      assert.equal(await promote(), 'unchanged');
      assert.equal(await people.noted(one, 'member.role-changed', userId), 1);
      assert.equal(await people.noted(other, 'member.role-changed'), 0);
    });

    it('does not find a member of another organization and changes nothing', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [home, foreign] = [await world().organization(), await world().organization()];
      const userId = await people.add(home, email);
      const before = await store.listMembers(home);
      const outcomes = [
        await store.setMemberRole(foreign, userId, 'admin', note('member.role-changed')),
        await store.setMemberRole(home, strangers.user(), 'admin', note('member.role-changed')),
        await store.setMemberRole(home, strangers.user(), 'member', note('member.role-changed')),
      ];
      assert.deepEqual(outcomes, ['missing', 'missing', 'missing']);
      assert.deepEqual(await store.listMembers(home), before);
      assert.equal(await people.noted(home, 'member.role-changed'), 0);
      assert.equal(await people.noted(foreign, 'member.role-changed'), 0);
    });

    it('keeps the last admin who is a person, regardless of service accounts and other organizations', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [organization, other] = [await world().organization(), await world().organization()];
      const userId = await people.add(organization, email, { role: 'admin' });
      await people.add(organization, 'bob@example.org');
      await people.add(organization, 'robot@example.org', { role: 'admin', service: true });
      await people.add(other, 'carol@example.org', { role: 'admin' });
      const before = await store.listMembers(organization);
      const demoted = await store.setMemberRole(organization, userId, 'member', note('member.role-changed'));
      assert.equal(demoted, 'last-admin');
      const removed = await store.removeMember(organization, email, true, note('member.removed'));
      assert.deepEqual(removed, { outcome: 'last-admin' });
      assert.deepEqual(await store.listMembers(organization), before);
      assert.equal(await people.noted(organization, 'member.role-changed'), 0);
      assert.equal(await people.noted(organization, 'member.removed'), 0);

      await people.add(organization, 'carol@example.org', { role: 'admin' });
      assert.equal(await store.setMemberRole(organization, userId, 'member', note()), 'changed');
      assert.equal((await store.findMember(organization, email))?.role, 'member');
    });

    it('removes service accounts and members when there is no other admin, and the last admin if `keepAdmin` is off', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const robot = await people.add(organization, 'robot@example.org', { role: 'admin', service: true });
      await people.add(organization, 'robot2@example.org', { role: 'admin', service: true });
      await people.add(organization, 'bob@example.org');
      assert.equal(await store.setMemberRole(organization, robot, 'member', note()), 'changed');
      const remove = async (address: string, keepAdmin: boolean) =>
        granted(await store.removeMember(organization, address, keepAdmin, note())).outcome;
      assert.equal(await remove('robot2@example.org', true), 'removed');
      assert.equal(await remove('bob@example.org', true), 'removed');
      await people.add(organization, email, { role: 'admin' });
      assert.equal(await remove(email, true), 'last-admin');
      assert.equal(await remove(email, false), 'removed');
    });

    it('keeps the last admin who has joined while the others are merely invited', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const userId = await people.add(organization, email, { role: 'admin' });
      await people.join(organization, userId, 'first');
      const invited = await people.add(organization, 'bob@example.org', { role: 'admin' });
      await people.invite(organization, invited);
      const demote = () => store.setMemberRole(organization, userId, 'member', note());
      assert.equal(await demote(), 'last-admin');
      const removed = await store.removeMember(organization, email, true, note());
      assert.deepEqual(removed, { outcome: 'last-admin' });
      // An invited person can be demoted or removed.
      assert.equal(await store.setMemberRole(organization, invited, 'member', note()), 'changed');
      assert.equal(await store.setMemberRole(organization, invited, 'admin', note()), 'changed');
      await people.join(organization, invited, 'other');
      assert.equal(await demote(), 'changed');
    });

    it('keeps one of two admins who remove each other at the same time on two nodes', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const node = await world().node();
      const [ada, bob] = ['ada@example.org', 'bob@example.org'];
      for (let round = 0; round < 12; round += 1) {
        const organization = await world().organization();
        const [adaId, bobId] = [
          await people.add(organization, ada, { role: 'admin' }),
          await people.add(organization, bob, { role: 'admin' }),
        ];
        const demote = (by: typeof store, userId: typeof adaId) =>
          by.setMemberRole(organization, userId, 'member', note());
        const remove = async (by: typeof store, address: string) =>
          granted(await by.removeMember(organization, address, true, note())).outcome;
        const pairs = [
          () => [demote(store, bobId), demote(node, adaId)],
          () => [remove(store, bob), remove(node, ada)],
          () => [demote(store, bobId), remove(node, ada)],
        ];
        const outcomes = await Promise.all<string>(pairs[round % pairs.length]!());
        assert.equal(outcomes.filter((outcome) => outcome === 'last-admin').length, 1, outcomes.join());
        const admins = (await store.listMembers(organization)).filter(({ role }) => role === 'admin');
        assert.equal(admins.length, 1);
      }
    });
  });
}
