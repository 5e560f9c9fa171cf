import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Accounting,
  bySession,
  day,
  email,
  freshHash,
  newSession,
  oneMembership,
  proof,
  twoMemberships,
} from './account-fixture.ts';
import { note, strangers, type World } from './fixture.ts';

const hour = 3_600_000;

export function describeSessions(world: () => World): void {
  describe('sessions', () => {
    it('returns exactly what was stored', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const organization = await world().organization({ name: 'Home' });
      const userId = await people.add(organization, email, { role: 'admin' });
      const token = await people.signIn(userId);
      const startedAt = clock.ms;
      clock.pass(hour);
      await people.acceptBySso(organization, userId);
      const access = { proof: 'sso' };
      const session = { userId, email, access, seenAt: startedAt, now: clock.ms };
      assert.deepEqual(await store.findSession(token, undefined), { ...session, membership: undefined });
      assert.deepEqual(await store.findSession(token, organization), {
        ...session,
        membership: {
          organizationId: organization,
          organizationName: 'Home',
          apiEnabled: true,
          role: 'admin',
        },
      });
      assert.equal(await store.findSession(freshHash(), organization), undefined);
    });

    it('starts if its person may enter or accept a membership, and writes a note where it enters', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [opened, closed, asRobot] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(opened, email);
      await people.add(closed, email);
      await people.add(asRobot, email, { service: true });
      const noted = () =>
        Promise.all([opened, closed, asRobot].map((id) => people.noted(id, 'session.started', userId)));
      const waiting = await people.signIn(userId);
      assert.deepEqual(await people.standing(waiting), { entered: [], pending: [opened, closed].toSorted() });
      assert.deepEqual(await noted(), [0, 0, 0], 'nothing is accepted yet');

      await people.join(opened, userId, 'first');
      await people.signIn(userId, { passwordHash: 'first' });
      assert.deepEqual(await noted(), [1, 0, 0]);
      await people.signIn(userId);
      assert.deepEqual(await noted(), [2, 0, 0]);

      const robot = await people.add(asRobot, 'robot@example.org', { service: true });
      const started = note('session.started', undefined, { authority: proof() });
      for (const stranger of [newSession(robot), newSession(strangers.user())]) {
        assert.equal(await store.createSession(stranger, started), 'refused');
        assert.equal(await people.isLive(stranger.tokenHash), false);
      }
    });

    it('is rejected if the password was changed since it was checked', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.join(organization, userId, 'first');
      await people.changePassword(userId, 'first', 'second');
      const session = newSession(userId, { passwordHash: 'first' });
      const started = note('session.started', userId, { authority: proof(userId) });
      assert.equal(await store.createSession(session, started), 'refused');
      assert.equal(await people.isLive(session.tokenHash), false);
      assert.equal(await people.noted(organization, 'session.started'), 1, 'of the session of the change');
      await people.signIn(userId, { passwordHash: 'second' });
    });

    it('does not survive a password change on another node at the same time', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const node = await world().node();
      await people.join(organization, userId, 'password 0');
      const kept = await people.signIn(userId);
      const started = () => note('session.started', userId, { authority: proof(userId) });
      for (let round = 0; round < 20; round += 1) {
        const sessions = Array.from({ length: 4 }, () =>
          newSession(userId, { passwordHash: `password ${round}` }),
        );
        await Promise.all([
          ...sessions.map((session) => store.createSession(session, started())),
          people.changePassword(userId, `password ${round}`, `password ${round + 1}`, kept, node),
        ]);
        for (const { tokenHash } of sessions) assert.equal(await people.isLive(tokenHash), false);
      }
    });

    it("expires after its idle time, by the store's clock", async () => {
      const { clock, people, userId } = await oneMembership(world());
      const token = await people.signIn(userId, { idleMs: hour });
      clock.pass(hour - 1);
      assert.ok(await people.isLive(token));
      clock.pass(1);
      assert.equal(await people.isLive(token), false);
    });

    it('is extended by every touch and reports when it was used', async () => {
      const { store, clock, people, userId } = await oneMembership(world());
      const [token, untouched] = [
        await people.signIn(userId, { idleMs: hour }),
        await people.signIn(userId, { idleMs: hour }),
      ];
      clock.pass(hour - 1);
      await store.touchSession(token, hour);
      const touchedAt = clock.ms;
      clock.pass(hour - 1);
      assert.equal((await store.findSession(token, undefined))?.seenAt, touchedAt);
      assert.equal(await people.isLive(untouched), false);
      clock.pass(1);
      assert.equal(await people.isLive(token), false);
    });

    it('ends with its lifetime, however often it is touched', async () => {
      const { store, clock, people, userId } = await oneMembership(world());
      const touched = await people.signIn(userId, { idleMs: hour, lifeMs: 3 * hour });
      const idle = await people.signIn(userId, { idleMs: day, lifeMs: 3 * hour });
      for (let round = 0; round < 5; round += 1) {
        clock.pass(hour / 2);
        await store.touchSession(touched, hour);
      }
      clock.pass(hour / 2 - 1);
      await store.touchSession(touched, day);
      await store.touchSession(idle, day);
      assert.deepEqual([await people.isLive(touched), await people.isLive(idle)], [true, true]);
      clock.pass(1);
      assert.deepEqual([await people.isLive(touched), await people.isLive(idle)], [false, false]);
    });

    it('is not revived by a touch', async () => {
      const { store, clock, people, userId } = await oneMembership(world());
      const [expired, ended] = [await people.signIn(userId, { idleMs: hour }), await people.signIn(userId)];
      await store.endSession(ended);
      clock.pass(hour);
      for (const token of [expired, ended]) {
        await store.touchSession(token, day);
        assert.equal(await people.isLive(token), false);
      }
    });

    it('enters accepted memberships, by password and by single sign-on alike', async () => {
      const people = new Accounting(world());
      const [opened, closed, asRobot, foreign] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(opened, email);
      await people.add(closed, email);
      await people.add(asRobot, email, { service: true });
      await people.add(foreign, 'bob@example.org');
      await people.join(opened, userId, 'first', { byOperator: true });
      const tokens = [await people.signIn(userId, { passwordHash: 'first' }), await people.signIn(userId)];
      for (const token of tokens) {
        const entered = [opened, closed, asRobot, foreign, strangers.organization()].map((id) =>
          people.enters(token, id),
        );
        assert.deepEqual(await Promise.all(entered), [true, false, false, false, false]);
      }
    });

    it('remains for a removed person, but no longer enters that organization', async () => {
      const { store, people, one, other, userId } = await twoMemberships(world());
      const node = await world().node();
      await people.join(one, userId, 'first', { byOperator: true });
      await people.join(other, userId, { proven: 'first' });
      const tokens = [await people.signIn(userId, { passwordHash: 'first' }), await people.signIn(userId)];
      for (const token of tokens) assert.ok(await people.enters(token, one));
      await node.removeMember(one, email, false, note());
      for (const token of tokens) {
        assert.equal(await people.enters(token, one), false);
        assert.ok(await people.enters(token, other));
      }
      assert.equal((await store.findSession(tokens[0]!, one))?.userId, userId);
    });

    it('ends when its person is removed from the last organization, even if they come back', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const asRobot = await world().organization();
      await people.add(asRobot, email, { service: true });
      const bob = await people.add(organization, 'bob@example.org');
      await people.join(organization, userId, 'first', { byOperator: true });
      const tokens = [await people.signIn(userId, { passwordHash: 'first' }), await people.signIn(userId)];
      const bobs = await people.signIn(bob);
      await store.removeMember(organization, email, false, note());
      assert.equal(await people.add(organization, email), userId);
      await people.join(organization, userId, { proven: 'first' });
      for (const token of tokens) assert.equal(await people.isLive(token), false);
      assert.ok(await people.isLive(bobs));
    });

    it('does not outlive a removal on another node at the same time', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const node = await world().node();
      const started = () => note('session.started', userId, { authority: proof(userId) });
      for (let round = 0; round < 20; round += 1) {
        const sessions = Array.from({ length: 4 }, () => newSession(userId));
        await Promise.all([
          ...sessions.map((session) => store.createSession(session, started())),
          node.removeMember(organization, email, false, note()),
        ]);
        await people.add(organization, email);
        for (const { tokenHash } of sessions) assert.equal(await people.isLive(tokenHash), false);
      }
    });

    it('shows what another node committed: its end, a role, the public API', async () => {
      const { store, people, organization, userId } = await oneMembership(world());
      const node = await world().node();
      await people.acceptBySso(organization, userId);
      const token = await people.signIn(userId);
      const membership = async () => (await store.findSession(token, organization))?.membership;
      assert.deepEqual([(await membership())?.role, (await membership())?.apiEnabled], ['member', true]);
      await node.setMemberRole(organization, userId, 'admin', note());
      await node.updateOrganization(organization, { apiEnabled: false }, note());
      assert.deepEqual([(await membership())?.role, (await membership())?.apiEnabled], ['admin', false]);
      await node.endSession(token);
      assert.equal(await people.isLive(token), false);
    });

    it('ends without the others, and ending it again changes nothing', async () => {
      const { store, people, userId } = await oneMembership(world());
      const [ended, other] = [await people.signIn(userId), await people.signIn(userId)];
      await store.endSession(ended);
      await store.endSession(ended);
      assert.deepEqual([await people.isLive(ended), await people.isLive(other)], [false, true]);
    });

    it('ends with all sessions of its person, with a note in each of their organizations', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const [one, other, foreign] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(one, email);
      await people.add(other, email);
      const bob = await people.add(one, 'bob@example.org');
      for (const organization of [one, other]) await people.acceptBySso(organization, userId);
      await people.signIn(userId, { idleMs: hour });
      const ended = [
        await people.signIn(userId, { idleMs: day }),
        await people.signIn(userId, { idleMs: day }),
      ];
      const bobs = await people.signIn(bob);
      clock.pass(hour);
      const authority = bySession(userId, ended[0]!);
      const everywhere = () => store.endSessions(note('session.ended-everywhere', userId, { authority }));
      assert.equal(await everywhere(), 2, 'without the one that has expired');
      for (const token of ended) assert.equal(await people.isLive(token), false);
      assert.ok(await people.isLive(bobs));
      assert.equal(await everywhere(), 'unauthorized');
      const noted = [one, other, foreign].map((id) => people.noted(id, 'session.ended-everywhere', userId));
      assert.deepEqual(await Promise.all(noted), [1, 1, 0], 'an end of nothing is not written down');
    });

    it('is noted in each organization that it can enter when its person signs out, once', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const [one, other, foreign] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(one, email);
      for (const id of [other, foreign]) await people.add(id, email);
      for (const id of [one, other]) await people.acceptBySso(id, userId);
      const [left, replaced] = [await people.signIn(userId), await people.signIn(userId)];
      const expired = await people.signIn(userId, { idleMs: hour });
      clock.pass(hour);
      const signOut = (token: string) =>
        store.endSession(token, note('session.ended', userId, { authority: proof(userId) }));
      await store.endSession(replaced);
      for (const token of [left, left, replaced, expired]) await signOut(token);
      for (const token of [left, replaced, expired]) assert.equal(await people.isLive(token), false);
      const noted = [one, other, foreign].map((id) => people.noted(id, 'session.ended', userId));
      assert.deepEqual(await Promise.all(noted), [1, 1, 0]);
    });
  });
}
