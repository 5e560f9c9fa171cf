import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeAcceptedInvitations } from './accepted-invitations.ts';
import { Accounting, email, oneMembership } from './account-fixture.ts';
import { note, type World } from './fixture.ts';
import { describeInvitations } from './invitations.ts';
import { describeProofs } from './proofs.ts';
import { describeSessions } from './sessions.ts';

export function describeAccounts(world: () => World): void {
  describePeople(world);
  describeIdentities(world);
  describeInvitations(world);
  describeAcceptedInvitations(world);
  describeProofs(world);
  describeSessions(world);
}

function describePeople(world: () => World): void {
  describe('people', () => {
    it('finds a person by address, with the password once it is set', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.add(organization, 'bob@example.org');
      assert.deepEqual(await store.findPerson(email), { userId, email, passwords: [] });
      await people.join(organization, userId, 'first');
      const person = await store.findPerson(email);
      const [password] = person?.passwords ?? [];
      assert.deepEqual(person, {
        userId,
        email,
        passwords: [{ id: password?.id, hash: 'first', proven: false }],
      });
      assert.deepEqual(await people.hashes('bob@example.org'), []);
    });

    it('does not find unknown people, former members and service accounts', async () => {
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

    it('lists memberships in the order of joining, without those of service accounts', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const [late, early] = [await world().organization(), await world().organization({ name: 'Early' })];
      const userId = await people.add(early, email, { role: 'admin' });
      clock.pass(1);
      await people.add(late, email);
      await people.add(await world().organization(), email, { service: true });
      await people.add(await world().organization(), 'bob@example.org');
      await store.updateOrganization(late, { apiEnabled: false }, note());
      const listed = [
        { organizationId: early, organizationName: 'Early', apiEnabled: true, role: 'admin' },
        { organizationId: late, organizationName: 'Acme', apiEnabled: false, role: 'member' },
      ];
      const sso = { proof: 'sso' } as const;
      assert.deepEqual(await store.listMemberships(userId, sso), { entered: [], pending: listed });
      for (const organization of [late, early]) await people.acceptBySso(organization, userId);
      assert.deepEqual(await store.listMemberships(userId, sso), { entered: listed, pending: [] });
    });

    it('changes a password, ends the other sessions that it covers, and closes no membership', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const bob = await people.add(organization, 'bob@example.org');
      await people.join(organization, userId, 'first', { byOperator: true });
      await people.join(organization, bob, 'bobs');
      const [kept, ended, viaProvider, bobs] = [
        await people.signIn(userId, { passwordHash: 'first' }),
        await people.signIn(userId, { passwordHash: 'first' }),
        await people.signIn(userId),
        await people.signIn(bob, { passwordHash: 'bobs' }),
      ];
      assert.equal(await people.changePassword(userId, 'first', 'second', kept), 'changed');
      assert.deepEqual(await people.hashes(email), ['second']);
      assert.deepEqual(await people.hashes('bob@example.org'), ['bobs']);
      const live = await Promise.all([kept, ended, viaProvider, bobs].map((token) => people.isLive(token)));
      assert.deepEqual(live, [true, false, false, true]);
      assert.ok(await people.enters(kept, organization));
      assert.equal((await store.findPerson(email))?.passwords[0]?.proven, true, 'it is still proven');
    });

    it('rejects a change of a password that was changed meanwhile', async () => {
      const { people, organization, userId } = await oneMembership(world());
      await people.join(organization, userId, 'first');
      const session = await people.signIn(userId, { passwordHash: 'first' });
      assert.equal(await people.changePassword(userId, 'other', 'second', session), 'refused');
      assert.deepEqual(await people.hashes(email), ['first']);
      assert.ok(await people.isLive(session));
      assert.equal(await people.noted(organization, 'password.changed'), 0);
    });

    it('changes no password with a session that has ended or that is of another person', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.join(organization, userId, 'first');
      const session = await people.signIn(userId, { passwordHash: 'first' });
      const ended = await people.signIn(userId);
      await store.endSession(ended);
      const bobs = await people.signIn(await people.add(organization, 'bob@example.org'));
      for (const token of [ended, bobs])
        assert.equal(await people.changePassword(userId, 'first', 'second', token), 'unauthorized');
      assert.deepEqual(await people.hashes(email), ['first']);
      assert.ok(await people.isLive(session));
      assert.equal(await people.noted(organization, 'password.changed'), 0);
    });

    it('never makes two passwords of a person equal', async () => {
      const people = new Accounting(world());
      const [one, other, third] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(one, email);
      for (const organization of [other, third]) await people.add(organization, email);
      await people.join(one, userId, 'first');
      await people.join(other, userId, 'second');
      const owner = await people.signIn(userId, { passwordHash: 'first' });
      assert.equal(await people.changePassword(userId, 'second', 'first', owner), 'refused');
      const chosen = await people.accept(await people.invite(third, userId), 'first');
      assert.equal(chosen, 'refused');
      assert.deepEqual((await people.hashes(email))?.toSorted(), ['first', 'second']);
      assert.ok(await people.isLive(owner));
      assert.equal(await people.changePassword(userId, 'second', 'second', owner), 'changed');
    });

    it('writes an audit note of a password change in the organizations that it enters only', async () => {
      const people = new Accounting(world());
      const [one, other, closed, foreign] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(one, email);
      await people.add(other, email);
      await people.add(closed, email);
      await people.join(one, userId, 'first');
      await people.join(other, userId, { proven: 'first' });
      await people.changePassword(userId, 'first', 'second');
      const noted = [one, other, closed, foreign].map((id) => people.noted(id, 'password.changed', userId));
      assert.deepEqual(await Promise.all(noted), [1, 1, 0, 0]);
    });
  });
}

function describeIdentities(world: () => World): void {
  describe('identities', () => {
    it('binds a subject to the person with its address and then finds them by the subject', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.add(organization, 'bob@example.org');
      assert.equal(await people.bind(email, 'subject'), userId);
      assert.equal(await people.bind('married@example.org', 'subject'), userId);
      assert.equal(await people.bind('bob@example.org', 'subject'), userId);
      await people.accept(await people.invite(organization, userId, { resets: true }), 'first');
      assert.equal(await people.bind(email, 'subject'), userId);
      const [password] = (await store.findPerson(email))?.passwords ?? [];
      assert.deepEqual([password?.hash, password?.proven], ['first', true]);
    });

    it('rejects an address that is bound to another subject of the provider', async () => {
      const { people, userId } = await oneMembership(world());
      await people.bind(email, 'subject');
      assert.equal(await people.bind(email, 'another'), undefined);
      assert.equal(await people.bind(email, 'another'), undefined, 'it has not been bound');
      const elsewhere = await people.bind(email, 'another', 'https://other.example.org');
      assert.equal(elsewhere, userId);
    });

    it('never binds an unknown address or a service account', async () => {
      const people = new Accounting(world());
      const organization = await world().organization();
      assert.equal(await people.bind(email, 'subject'), undefined);
      await people.add(organization, 'robot@example.org', { service: true });
      assert.equal(await people.bind('robot@example.org', 'subject'), undefined);
      const userId = await people.add(organization, email);
      assert.equal(await people.bind(email, 'subject'), userId);
    });

    it('does not find a bound person who has left, and finds them when they come back', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.add(organization, 'bob@example.org');
      await people.bind(email, 'subject');
      await store.removeMember(organization, email, false, note());
      assert.equal(await people.bind(email, 'subject'), undefined);
      assert.equal(await people.bind('bob@example.org', 'subject'), undefined);
      await people.add(organization, email);
      assert.equal(await people.bind(email, 'subject'), userId);
    });

    it('binds one subject when nodes bind at the same time, and returns the same person to all', async () => {
      const people = new Accounting(world());
      const nodes = [world().store, await world().node()];
      const organization = await world().organization();
      for (let round = 0; round < 10; round += 1) {
        const address = `${round}@example.org`;
        const userId = await people.add(organization, address);
        const subjects = [`${round}`, `${round}`, `${round} again`];
        const ids = await Promise.all(
          subjects.map((subject, index) => people.bind(address, subject, undefined, nodes[index % 2]!)),
        );
        const winner = ids[2] === undefined ? [userId, userId, undefined] : [undefined, undefined, userId];
        assert.deepEqual(ids, winner);
      }
    });
  });
}
