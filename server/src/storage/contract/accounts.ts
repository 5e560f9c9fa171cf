import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounting } from './account-fixture.ts';
import { note, type World } from './fixture.ts';
import { describeInvitations } from './invitations.ts';
import { describeSessions } from './sessions.ts';

const email = 'ada@example.org';
const issuer = 'https://login.example.org';

export function describeAccounts(world: () => World): void {
  describePeople(world);
  describeIdentities(world);
  describeInvitations(world);
  describeSessions(world);
}

function describePeople(world: () => World): void {
  describe('people', () => {
    it('finds a person by their address, with their password once it is set', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const userId = await people.add(organization, email);
      await people.add(organization, 'bob@example.org');
      assert.deepEqual(await store.findPerson(email), { userId, email, passwordHash: null });
      await people.join(organization, userId, 'first');
      assert.deepEqual(await store.findPerson(email), { userId, email, passwordHash: 'first' });
      assert.equal((await store.findPerson('bob@example.org'))?.passwordHash, null);
    });

    it('does not find who is unknown, who has left, and who is a service account only', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [one, other] = [await world().organization(), await world().organization()];
      assert.equal(await store.findPerson(email), undefined);
      await people.add(one, email, { service: true });
      assert.equal(await store.findPerson(email), undefined);
      await people.add(other, email);
      assert.notEqual(await store.findPerson(email), undefined);
      await store.removeMember(other, email, false, note());
      assert.equal(await store.findPerson(email), undefined);
    });

    it('lists memberships in order of joining, without those of a service account', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const [late, early] = [await world().organization(), await world().organization({ name: 'Early' })];
      const userId = await people.add(early, email, { role: 'admin' });
      clock.pass(1);
      await people.add(late, email);
      await people.add(await world().organization(), email, { service: true });
      await people.add(await world().organization(), 'bob@example.org');
      await store.updateOrganization(late, { apiEnabled: false }, note());
      assert.deepEqual(await store.listMemberships(userId, 'sso'), [
        { organizationId: early, organizationName: 'Early', apiEnabled: true, role: 'admin' },
        { organizationId: late, organizationName: 'Acme', apiEnabled: false, role: 'member' },
      ]);
    });

    it('lists opened memberships only to a password, and all to single sign-on', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [opened, closed] = [await world().organization(), await world().organization()];
      const userId = await people.add(opened, email);
      await people.add(closed, email);
      assert.deepEqual(await store.listMemberships(userId, 'password'), []);
      await people.join(opened, userId, 'first');
      const ids = async (proof: 'password' | 'sso') =>
        (await store.listMemberships(userId, proof)).map(({ organizationId }) => organizationId);
      assert.deepEqual(await ids('password'), [opened]);
      assert.deepEqual((await ids('sso')).toSorted(), [opened, closed].toSorted());
    });

    it('changes a password, ends all sessions of the person but one, and closes nothing', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const userId = await people.add(organization, email);
      const bob = await people.add(organization, 'bob@example.org');
      await people.join(organization, userId, 'first');
      const [kept, ended, viaProvider, bobs] = [
        await people.signIn(userId, { passwordHash: 'first' }),
        await people.signIn(userId, { passwordHash: 'first' }),
        await people.signIn(userId),
        await people.signIn(bob),
      ];
      await store.changePassword(userId, 'second', kept, note('password.changed', userId));
      assert.equal((await store.findPerson(email))?.passwordHash, 'second');
      assert.equal((await store.findPerson('bob@example.org'))?.passwordHash, null);
      const live = await Promise.all([kept, ended, viaProvider, bobs].map((token) => people.isLive(token)));
      assert.deepEqual(live, [true, false, false, true]);
      assert.ok(await people.enters(kept, organization));
    });

    it('writes a change of password down in every organization of the person, and in no other', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [one, other, foreign] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(one, email);
      await people.add(other, email);
      await store.changePassword(userId, 'second', '', note('password.changed', userId));
      const noted = [one, other, foreign].map((id) => people.noted(id, 'password.changed', userId));
      assert.deepEqual(await Promise.all(noted), [1, 1, 0]);
    });
  });
}

function describeIdentities(world: () => World): void {
  describe('identities', () => {
    it('binds a subject to the person of its address, and knows it by the subject from then on', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const userId = await people.add(organization, email);
      await people.add(organization, 'bob@example.org');
      const ada = { userId, email, passwordHash: null };
      assert.deepEqual(await store.bindIdentity(issuer, 'subject', email), ada);
      assert.deepEqual(await store.bindIdentity(issuer, 'subject', 'married@example.org'), ada);
      assert.deepEqual(await store.bindIdentity(issuer, 'subject', 'bob@example.org'), ada);
      await people.accept(await people.invite(organization, userId, { resets: true }), 'first');
      assert.equal((await store.bindIdentity(issuer, 'subject', email))?.passwordHash, 'first');
    });

    it('refuses an address that is bound to another subject of the provider', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const userId = await people.add(await world().organization(), email);
      await store.bindIdentity(issuer, 'subject', email);
      assert.equal(await store.bindIdentity(issuer, 'another', email), undefined);
      assert.equal(await store.bindIdentity(issuer, 'another', email), undefined, 'nor has it been bound');
      const elsewhere = await store.bindIdentity('https://other.example.org', 'another', email);
      assert.equal(elsewhere?.userId, userId);
    });

    it('binds nobody to an address that is unknown or a service account, now or later', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      assert.equal(await store.bindIdentity(issuer, 'subject', email), undefined);
      await people.add(organization, 'robot@example.org', { service: true });
      assert.equal(await store.bindIdentity(issuer, 'subject', 'robot@example.org'), undefined);
      const userId = await people.add(organization, email);
      assert.equal((await store.bindIdentity(issuer, 'subject', email))?.userId, userId);
    });

    it('does not know a bound person who has left, and knows them when they come back', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const userId = await people.add(organization, email);
      await people.add(organization, 'bob@example.org');
      await store.bindIdentity(issuer, 'subject', email);
      await store.removeMember(organization, email, false, note());
      assert.equal(await store.bindIdentity(issuer, 'subject', email), undefined);
      assert.equal(await store.bindIdentity(issuer, 'subject', 'bob@example.org'), undefined);
      await people.add(organization, email);
      assert.equal((await store.bindIdentity(issuer, 'subject', email))?.userId, userId);
    });

    it('answers the same person to nodes that bind a subject at once, and binds one subject of several', async () => {
      const people = new Accounting(world());
      const nodes = [world().store, await world().node()];
      const organization = await world().organization();
      for (let round = 0; round < 10; round += 1) {
        const address = `${round}@example.org`;
        const userId = await people.add(organization, address);
        const subjects = [`${round}`, `${round}`, `${round} again`];
        const bound = await Promise.all(
          subjects.map((subject, index) => nodes[index % 2]!.bindIdentity(issuer, subject, address)),
        );
        const ids = bound.map((person) => person?.userId);
        const winner = ids[2] === undefined ? [userId, userId, undefined] : [undefined, undefined, userId];
        assert.deepEqual(ids, winner);
      }
    });
  });
}
