import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { undoMs } from '../../src/domain/thread.ts';
import { Accounting, day, email, newInvitation, oneMembership, twoMemberships } from './account-fixture.ts';
import { newKey } from './api-keys.ts';
import { by, note, skein, strangers, type World } from './fixture.ts';

export function describeInvitations(world: () => World): void {
  describe('invitations', () => {
    it('returns exactly what was stored, until it expires', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const organization = await world().organization({ name: 'Home' });
      const userId = await people.add(organization, email);
      assert.equal((await store.findMember(organization, email))?.invitedUntil, null);
      const token = await people.invite(organization, userId, { keepMs: day });
      assert.deepEqual(await store.findInvitation(token), {
        organizationId: organization,
        organizationName: 'Home',
        userId,
        email,
        terms: 'choose',
        byOperator: false,
        resets: false,
        identityBound: false,
        hasThreads: false,
        hasKeys: false,
        shownToAdmin: true,
        passwords: [],
      });
      const member = await store.findMember(organization, email);
      assert.deepEqual([member?.invitedUntil, member?.opened], [clock.ms + day, false]);
      assert.deepEqual(await store.listMembers(organization), [member]);
      assert.equal(await people.noted(organization, 'member.invited', userId), 1);
    });

    it('rejects non-members, service accounts and members of other organizations', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [organization, foreign] = [await world().organization(), await world().organization()];
      const userId = await people.add(organization, email);
      const robot = await people.add(organization, 'robot@example.org', { service: true });
      const invite = async (home: typeof organization, user: typeof userId) => {
        const invitation = newInvitation(user);
        const outcome = await store.createInvitation(home, invitation, note('member.invited'));
        assert.equal(await store.findInvitation(invitation.tokenHash), undefined);
        return outcome;
      };
      assert.equal(await invite(organization, strangers.user()), 'not-a-member');
      assert.equal(await invite(foreign, userId), 'not-a-member');
      assert.equal(await invite(strangers.organization(), userId), 'not-a-member');
      assert.equal(await invite(organization, robot), 'service-account');
      assert.equal(await people.noted(organization, 'member.invited'), 0);
      assert.equal(await people.noted(foreign, 'member.invited'), 0);
    });

    it('rejects a link that an admin would see for a person with threads whose address is not proven', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      await world().thread(one, userId);
      const shown = newInvitation(userId);
      const noted = note('member.invited', userId);
      assert.equal(await store.createInvitation(one, shown, noted), 'operator-only');
      assert.equal(await store.findInvitation(shown.tokenHash), undefined);
      assert.equal(await people.noted(one, 'member.invited'), 0);
      for (const [organization, change] of [
        [other, {}],
        [one, { sealedLink: 'sealed' }],
        [one, { byOperator: true }],
      ] as const) {
        const token = await people.invite(organization, userId, change);
        assert.equal((await store.findInvitation(token))?.terms, 'choose');
      }
      await people.join(one, userId, 'first', { byOperator: true });
      assert.equal((await store.findInvitation(await people.invite(one, userId)))?.terms, 'prove');
    });

    it('rejects such a link while the person can restore a thread that they deleted', async () => {
      const { store, clock, people, one, other, userId } = await twoMemberships(world());
      const { id } = await world().thread(one, userId);
      await store.deleteThread(one, id, note('thread.deleted', id, { authority: by(userId) }));
      clock.pass(undoMs);
      const link = newInvitation(userId);
      assert.equal(await store.createInvitation(one, link, note('member.invited')), 'operator-only');
      await people.invite(other, userId);
      clock.pass(1);
      await people.invite(one, userId);
    });

    it('does not accept a link that an admin saw before the person had threads', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      const [token, elsewhere] = [await people.invite(one, userId), await people.invite(other, userId)];
      await world().thread(one, userId);
      const found = await store.findInvitation(token);
      assert.deepEqual([found?.terms, found?.hasThreads], ['operator', true]);
      assert.equal(await people.accept(token, 'first'), 'refused');
      assert.equal(await people.accept(elsewhere, 'second'), 'accepted');
      assert.equal(await people.accept(token, { proven: 'second' }), 'refused');
      assert.deepEqual(await people.hashes(email), ['second']);
      assert.equal((await store.findMember(one, email))?.opened, false);
      await people.join(one, userId, 'third', { byOperator: true });
      const session = await people.signIn(userId, { passwordHash: 'third' });
      assert.ok(await people.enters(session, one));
    });

    it('rejects such a link while the person has a key, which could create threads later', async () => {
      const { store, clock, people, one, other, userId } = await twoMemberships(world());
      const [token, elsewhere] = [await people.invite(one, userId), await people.invite(other, userId)];
      assert.equal((await store.findInvitation(token))?.terms, 'choose');
      const key = newKey(userId);
      assert.equal(await store.createApiKey(one, key, note('key.created', key.id)), 'created');
      const found = await store.findInvitation(token);
      assert.deepEqual([found?.terms, found?.hasThreads, found?.hasKeys], ['operator', false, true]);
      assert.equal(await people.accept(token, 'first'), 'refused');
      const link = newInvitation(userId);
      assert.equal(await store.createInvitation(one, link, note('member.invited')), 'operator-only');
      assert.equal((await store.findInvitation(elsewhere))?.terms, 'choose');
      await store.revokeApiKey(one, key.id, note('key.revoked', key.id));
      clock.pass(1);
      assert.equal((await store.findInvitation(token))?.terms, 'choose');
    });

    it('expires by the clock of the store', async () => {
      const { store, clock, people, organization, userId } = await oneMembership(world());
      const token = await people.invite(organization, userId, { keepMs: day });
      clock.pass(day - 1);
      assert.notEqual(await store.findInvitation(token), undefined);
      clock.pass(1);
      assert.equal(await store.findInvitation(token), undefined);
      assert.equal(await people.accept(token, 'first'), 'missing');
      const member = await store.findMember(organization, email);
      assert.deepEqual([member?.invitedUntil, member?.opened], [null, false]);
      assert.deepEqual(await people.hashes(email), []);
    });

    it('is replaced by the next one for the same member and organization only', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      const bob = await people.add(one, 'bob@example.org');
      const first = await people.invite(one, userId);
      const elsewhere = await people.invite(other, userId);
      const bobs = await people.invite(one, bob);
      const second = await people.invite(one, userId);
      assert.equal(await store.findInvitation(first), undefined);
      assert.equal(await people.accept(first, 'first'), 'missing');
      for (const token of [elsewhere, bobs, second])
        assert.notEqual(await store.findInvitation(token), undefined);
    });

    it('does not replace a valid one if the person requested it, and counts only those it creates', async () => {
      const { store, clock, people, organization, userId } = await oneMembership(world());
      const nodes = [store, await world().node()];
      const hour = day / 24;
      const requested = { person: strangers.user(), personMax: 3 };
      const ask = (node = store) => {
        const link = newInvitation(userId, {
          resets: true,
          byOperator: false,
          keepMs: hour,
          requested,
          sealedLink: 'sealed',
        });
        return node.createInvitation(organization, link, note('password.link-requested', userId));
      };
      const outcomes = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(nodes[index % 2])));
      assert.deepEqual(outcomes.toSorted(), ['created', ...Array(11).fill('live')]);
      assert.equal(await people.noted(organization, 'password.link-requested', userId), 1);
      const mail = await store.claimMail('', day);
      const failed = note('member.mail-failed', undefined, { authority: skein });
      await store.settleMail(mail!, { state: 'failed', note: failed });
      assert.deepEqual([await ask(), await ask()], ['created', 'live']);
      clock.pass(hour);
      assert.deepEqual([await ask(), await ask()], ['created', 'live']);
      clock.pass(hour);
      assert.equal(await ask(), 'person-limit');
      assert.equal(await people.noted(organization, 'password.link-requested', userId), 3);
      clock.pass(day);
      assert.equal(await ask(), 'created');
      await people.invite(organization, userId);
    });

    it('leaves a link of the operator valid if the person asked for one, and using either ends the other', async () => {
      const { store, clock, people, organization, userId } = await oneMembership(world());
      const requested = { person: strangers.user(), personMax: 4 };
      const byOperator = { resets: true, byOperator: true, sealedLink: 'sealed', keepMs: day };
      const byPerson = { ...byOperator, byOperator: false, requested };
      const isValid = async (token: string) => (await store.findInvitation(token)) !== undefined;
      await people.join(organization, userId, 'first');
      for (const [first, second] of [
        [byOperator, byPerson],
        [byPerson, byOperator],
      ] as const) {
        for (const used of [0, 1]) {
          const links = [await people.invite(organization, userId, first)];
          clock.pass(1);
          links.push(await people.invite(organization, userId, { ...second, keepMs: 2 * day }));
          assert.deepEqual(await Promise.all(links.map(isValid)), [true, true]);
          const claimed = [await store.claimMail('', day), await store.claimMail('', day)];
          assert.deepEqual(claimed.map((mail) => mail?.tokenHash).toSorted(), links.toSorted());
          await store.settleMail(claimed[0]!, { state: 'sent' });
          await store.settleMail(claimed[1]!, { state: 'sent' });
          assert.equal(await store.claimMail('', day), undefined);
          const [member, ...others] = await store.listMembers(organization);
          assert.deepEqual([member?.invitedUntil, others], [clock.ms + 2 * day, []]);
          const next = `${first.byOperator} ${used}`;
          assert.equal(await people.accept(links[used]!, next), 'accepted');
          assert.deepEqual(await Promise.all(links.map(isValid)), [false, false]);
        }
      }
    });

    it('does not inherit the right to reset a password from the one it replaces', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      await people.join(one, userId, 'first', { byOperator: true });
      await people.invite(other, userId, { resets: true });
      const later = await people.invite(other, userId);
      const found = await store.findInvitation(later);
      assert.deepEqual([found?.terms, found?.byOperator, found?.resets], ['prove', false, false]);
    });

    it('can be used once, even by concurrent requests on several nodes', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const nodes = [store, await world().node()];
      const organization = await world().organization();
      for (let round = 0; round < 10; round += 1) {
        const address = `${round}@example.org`;
        const userId = await people.add(organization, address);
        const token = await people.invite(organization, userId);
        const tries = Array.from({ length: 6 }, (_, index) => ({ node: nodes[index % 2], hash: `${index}` }));
        const results = await Promise.all(tries.map(({ node, hash }) => people.accept(token, hash, node)));
        const winners = tries.filter((_, index) => results[index] === 'accepted');
        assert.equal(winners.length, 1);
        assert.equal(results.filter((outcome) => outcome === 'missing').length, 5);
        assert.deepEqual(await people.hashes(address), [winners[0]?.hash]);
        assert.equal(await store.findInvitation(token), undefined);
      }
      assert.equal(await people.noted(organization, 'member.joined'), 10);
    });

    it('is invalid after the person was removed, even when they come back', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const token = await people.invite(organization, userId);
      await store.removeMember(organization, email, false, note());
      assert.equal(await store.findInvitation(token), undefined);
      assert.equal(await people.accept(token, 'first'), 'missing');
      await people.add(organization, email);
      assert.equal(await store.findInvitation(token), undefined);
      assert.equal((await store.findMember(organization, email))?.invitedUntil, null);
      assert.equal(await people.accept(token, 'first'), 'missing');
    });
  });
}
