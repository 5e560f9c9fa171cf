import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounting, email, freshHash, oneMembership, twoMemberships } from './account-fixture.ts';
import { note, strangers, type World } from './fixture.ts';

export function describeAcceptedInvitations(world: () => World): void {
  describe('accepting an invitation', () => {
    it('sets the first password and opens the membership', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const token = await people.invite(organization, userId);
      assert.equal(await people.accept(token, 'first'), 'accepted');
      assert.deepEqual(await people.hashes(email), ['first']);
      const member = await store.findMember(organization, email);
      assert.deepEqual([member?.opened, member?.invitedUntil], [true, null]);
      assert.ok(await people.enters(await people.signIn(userId, { passwordHash: 'first' }), organization));
    });

    it('rejects a new password if a proven one must be entered, and changes nothing', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      await people.join(one, userId, 'first', { byOperator: true });
      const session = await people.signIn(userId, { passwordHash: 'first' });
      for (const organization of [one, other]) {
        const token = await people.invite(organization, userId);
        assert.equal((await store.findInvitation(token))?.terms, 'prove');
        assert.equal(await people.accept(token, 'stolen'), 'refused');
        assert.equal(await people.accept(token, { proven: 'wrong' }), 'refused');
      }
      assert.deepEqual(await people.hashes(email), ['first']);
      assert.equal((await store.findMember(other, email))?.opened, false);
      assert.equal((await store.findMember(one, email))?.opened, true);
      assert.ok(await people.enters(session, one));
      assert.equal(await people.noted(other, 'member.joined'), 0);
      await people.join(other, userId, { proven: 'first' });
      assert.ok(await people.enters(session, other));
    });

    it('lets the operator replace a proven password, which closes the other memberships and ends all sessions', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      const bob = await people.add(one, 'bob@example.org');
      await people.join(one, bob, 'bobs');
      await people.join(one, userId, 'first', { byOperator: true });
      await people.join(other, userId, { proven: 'first' });
      const bobs = await people.signIn(bob, { passwordHash: 'bobs' });
      const sessions = [await people.signIn(userId, { passwordHash: 'first' }), await people.signIn(userId)];
      assert.ok(await people.enters(sessions[0]!, one));

      const reset = await people.invite(other, userId, { resets: true });
      assert.equal((await store.findInvitation(reset))?.terms, 'choose');
      assert.equal(await people.accept(reset, { proven: 'first' }), 'refused');
      assert.equal(await people.accept(reset, 'second'), 'accepted');
      for (const session of sessions) assert.equal(await people.isLive(session), false);
      assert.deepEqual(await people.hashes(email), ['second']);
      assert.equal((await store.findMember(one, email))?.opened, false);
      const second = await people.signIn(userId, { passwordHash: 'second' });
      assert.deepEqual(await people.standing(second), { entered: [other], pending: [] });
      assert.ok(await people.enters(bobs, one));
      assert.deepEqual(await people.hashes('bob@example.org'), ['bobs']);
      const noted = [one, other].map((id) => people.noted(id, 'password.voided'));
      assert.deepEqual(await Promise.all(noted), [1, 0], 'noted where it was closed');
      assert.equal((await store.findInvitation(await people.invite(one, userId)))?.terms, 'prove');
    });

    it('lets a person replace their password, which ends all sessions and other links, and closes no proven membership', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      await people.join(one, userId, 'first', { byOperator: true });
      await people.join(other, userId, { proven: 'first' });
      const session = await people.signIn(userId, { passwordHash: 'first' });
      const operators = await people.invite(other, userId, { resets: true });
      await people.join(one, userId, 'second', { resets: true, byOperator: false });
      assert.equal(await people.isLive(session), false);
      assert.equal(await store.findInvitation(operators), undefined);
      assert.deepEqual(await people.hashes(email), ['second']);
      const second = await people.signIn(userId, { passwordHash: 'second' });
      assert.deepEqual(await people.standing(second), { entered: [one, other].toSorted(), pending: [] });
    });

    it('sets no password for a person bound to a provider, unless the operator allows it', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      assert.equal(await people.bind(email), userId);
      const token = await people.invite(organization, userId);
      assert.equal((await store.findInvitation(token))?.terms, 'sso');
      assert.equal(await people.accept(token, 'first'), 'refused');
      assert.deepEqual(await people.hashes(email), []);
      await people.join(organization, userId, 'first', { resets: true });
    });

    it('no longer replaces a proven password that the person has changed since, unless the operator created it', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      await people.join(one, userId, 'first', { byOperator: true });
      const mailed = await people.invite(one, userId, { resets: true, byOperator: false });
      const operators = await people.invite(other, userId, { resets: true });
      assert.equal(await people.changePassword(userId, 'first', 'second'), 'changed');
      assert.equal(await store.findInvitation(mailed), undefined);
      assert.equal(await people.accept(mailed, 'third'), 'missing');
      assert.deepEqual(await people.hashes(email), ['second']);
      assert.equal(await people.accept(operators, 'third'), 'accepted');
      assert.deepEqual(await people.hashes(email), ['third']);
    });

    it('still resets the password after an unproven one was set or changed', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      await people.join(one, userId, 'first');
      const requested = { person: strangers.user(), personMax: 9 };
      const links = [
        await people.invite(one, userId, { resets: true }),
        await people.invite(one, userId, { resets: true, byOperator: false, requested }),
      ];
      await people.join(other, userId, 'planted');
      assert.equal(await people.changePassword(userId, 'planted', 'planted again'), 'changed');
      assert.equal(await people.changePassword(userId, 'first', 'second'), 'changed');
      for (const link of links) assert.equal((await store.findInvitation(link))?.terms, 'choose');
      assert.equal(await people.accept(links[0]!, 'third'), 'accepted');
      assert.equal(await store.findInvitation(links[1]!), undefined, 'using one ends the others');
      assert.deepEqual(await people.hashes(email), ['third']);
    });

    it('still resets the password after the person joined another organization with the proven one', async () => {
      const { people, one, other, userId } = await twoMemberships(world());
      await people.join(one, userId, 'first', { byOperator: true });
      const reset = await people.invite(one, userId, { resets: true, byOperator: false });
      await people.join(other, userId, { proven: 'first' });
      assert.equal(await people.accept(reset, 'second'), 'accepted');
    });

    it('starts over for a person who has come back', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.join(organization, userId, 'first', { byOperator: true });
      const session = await people.signIn(userId, { passwordHash: 'first' });
      // Otherwise the session would end when they come back.
      await people.add(await world().organization(), email);
      await store.removeMember(organization, email, false, note());
      await people.add(organization, email);
      assert.equal((await store.findMember(organization, email))?.opened, false);
      assert.equal(await people.enters(session, organization), false);
      const token = await people.invite(organization, userId);
      assert.equal((await store.findInvitation(token))?.terms, 'prove');
    });

    it('writes one audit note, in its organization', async () => {
      const { people, one, other, userId } = await twoMemberships(world());
      const token = await people.invite(one, userId);
      await people.accept(token, { proven: 'first' });
      await people.accept(freshHash(), 'first');
      assert.equal(await people.noted(one, 'member.joined'), 0);
      await people.accept(token, 'first');
      await people.accept(token, 'first');
      assert.equal(await people.noted(one, 'member.joined'), 1);
      assert.equal(await people.noted(other, 'member.joined'), 0);
    });

    it('sets a separate password for each of two organizations when both links are used at once', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const node = await world().node();
      const [one, other] = [await world().organization(), await world().organization()];
      for (let round = 0; round < 10; round += 1) {
        const address = `${round}@example.org`;
        const userId = await people.add(one, address);
        await people.add(other, address);
        const [here, there] = [await people.invite(one, userId), await people.invite(other, userId)];
        const results = await Promise.all([people.accept(here, 'here'), people.accept(there, 'there', node)]);
        assert.deepEqual(results, ['accepted', 'accepted']);
        const [session, elsewhere] = [
          await people.signIn(userId, { passwordHash: 'here' }),
          await people.signIn(userId, { passwordHash: 'there' }),
        ];
        assert.deepEqual((await people.standing(session)).entered, [one]);
        assert.deepEqual((await people.standing(elsewhere)).entered, [other]);
        assert.equal((await store.findPerson(address))?.passwords.length, 2);
      }
    });

    it('lets one of two operator links prove the address when both are used at once', async () => {
      const people = new Accounting(world());
      const node = await world().node();
      const [one, other] = [await world().organization(), await world().organization()];
      for (let round = 0; round < 10; round += 1) {
        const address = `${round}@example.org`;
        const userId = await people.add(one, address);
        await people.add(other, address);
        const links = [
          await people.invite(one, userId, { byOperator: true }),
          await people.invite(other, userId, { byOperator: true }),
        ];
        const outcomes = await Promise.all([
          people.accept(links[0]!, 'here'),
          people.accept(links[1]!, 'there', node),
        ]);
        assert.deepEqual(outcomes.toSorted(), ['accepted', 'refused']);
        assert.deepEqual(await people.hashes(address), [outcomes[0] === 'accepted' ? 'here' : 'there']);
      }
    });
  });
}
