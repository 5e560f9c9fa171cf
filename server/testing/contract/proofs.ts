import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyRequestId, OrganizationId, PasswordId, UserId } from '../../src/domain/id.ts';
import { Accounting, bySession, day, oneMembership, proof } from './account-fixture.ts';
import { newKey } from './api-keys.ts';
import { fakeHash, note, strangers, type World } from './fixture.ts';

const email = 'victim@example.org';

/** What a password permits if it was set through an organization's link, which the admin may have used. */
export function describeProofs(world: () => World): void {
  describe('passwords set through the link of an organization', () => {
    /** Two organizations with the same person. The admin of the first one has used its link. */
    async function hijacked() {
      const people = new Accounting(world());
      const [one, other] = [await world().organization(), await world().organization()];
      const userId = await people.add(one, email);
      await people.add(other, email);
      await people.join(one, userId, 'hijacker');
      return { people, one, other, userId };
    }

    const addKey = async (
      organizationId: OrganizationId,
      userId: UserId,
      place: number,
      byOperator = false,
    ) =>
      world().store.createApiKey(
        organizationId,
        {
          id: strangers.key(),
          name: 'key',
          hint: 'eak_…',
          hash: fakeHash(place),
          userId,
          createdBy: byOperator ? null : userId,
        },
        note('key.created'),
      );

    it('enter only the memberships accepted with them', async () => {
      const { people, one, other, userId } = await hijacked();
      await people.join(other, userId, 'own');
      const [hijacker, own] = [
        await people.signIn(userId, { passwordHash: 'hijacker' }),
        await people.signIn(userId, { passwordHash: 'own' }),
      ];
      assert.deepEqual(await people.standing(hijacker), { entered: [one], pending: [] });
      assert.deepEqual(await people.standing(own), { entered: [other], pending: [] });
      assert.equal(await people.enters(hijacker, other), false);
      assert.equal(await people.enters(own, one), false);
    });

    it('accept another membership when they are entered at its link', async () => {
      const { people, one, other, userId } = await hijacked();
      const session = await people.signIn(userId, { passwordHash: 'hijacker' });
      await people.join(other, userId, { proven: 'hijacker' });
      assert.deepEqual((await people.standing(session)).entered, [one, other].toSorted());
    });

    it('end only their own sessions when the person signs out everywhere or changes them', async () => {
      const { store } = world();
      const { people, one, other, userId } = await hijacked();
      await people.join(other, userId, 'own');
      const [hijacker, again, own] = [
        await people.signIn(userId, { passwordHash: 'hijacker' }),
        await people.signIn(userId, { passwordHash: 'hijacker' }),
        await people.signIn(userId, { passwordHash: 'own' }),
      ];
      assert.equal(await people.changePassword(userId, 'hijacker', 'changed', hijacker), 'changed');
      const live = () => Promise.all([hijacker, again, own].map((token) => people.isLive(token)));
      assert.deepEqual(await live(), [true, false, true]);
      const authority = bySession(userId, hijacker);
      const everywhere = note('session.ended-everywhere', userId, { authority });
      assert.equal(await store.endSessions(everywhere), 1);
      assert.deepEqual(await live(), [false, false, true]);
      for (const action of ['password.changed', 'session.ended-everywhere'] as const)
        assert.deepEqual(
          await Promise.all([one, other].map((id) => people.noted(id, action, userId))),
          [1, 0],
        );
    });

    it('end when a provider proves the address, with their sessions, memberships and keys', async () => {
      const { store } = world();
      const { people, one, other, userId } = await hijacked();
      await addKey(one, userId, 1);
      await addKey(one, userId, 2, true);
      const hijacker = await people.signIn(userId, { passwordHash: 'hijacker' });
      await people.bind(email);
      assert.deepEqual((await store.findPerson(email))?.passwords, []);
      assert.equal(await people.isLive(hijacker), false);
      assert.equal((await store.findMember(one, email))?.opened, false);
      assert.equal(await store.findKeyGrant(fakeHash(1)), undefined);
      assert.ok(await store.findKeyGrant(fakeHash(2)), 'the operator made this one');
      const noted = [one, other].map((id) => people.noted(id, 'password.voided', userId));
      assert.deepEqual(await Promise.all(noted), [1, 0]);

      const session = await people.signIn(userId);
      const both = [one, other].toSorted();
      assert.deepEqual(await people.standing(session), { entered: [], pending: both });
      await people.acceptBySso(other, userId);
      assert.deepEqual(await people.standing(session), { entered: [other], pending: [one] });
      const again = note('member.joined', userId, { authority: bySession(userId, session) });
      assert.equal(await store.acceptMembership(other, again), 'missing', 'it is accepted');
      assert.equal(await people.noted(other, 'member.joined', userId), 1);
    });

    it('cannot be set after the address is proven', async () => {
      const { people, one, userId } = await hijacked();
      const link = await people.invite(one, userId);
      await people.bind(email);
      assert.equal(await people.accept(link, 'again'), 'refused');
      assert.equal(await people.accept(link, { proven: 'hijacker' }), 'refused');
      assert.deepEqual(await people.hashes(email), []);
    });

    it('do not remain when the address is proven while they are set', async () => {
      const people = new Accounting(world());
      const node = await world().node();
      const organization = await world().organization();
      for (let round = 0; round < 10; round += 1) {
        const address = `${round}@example.org`;
        const userId = await people.add(organization, address);
        const link = await people.invite(organization, userId);
        await Promise.all([
          people.accept(link, 'hijacker'),
          people.bind(address, undefined, undefined, node),
        ]);
        assert.deepEqual(await people.hashes(address), []);
        const session = await people.signIn(userId);
        assert.deepEqual((await people.standing(session)).entered, []);
      }
    });

    it('end when the person uses a link of the operator, unless it is the one they enter there', async () => {
      const { store } = world();
      const { people, one, other, userId } = await hijacked();
      const third = await world().organization();
      await people.add(third, email);
      await people.join(third, userId, 'own');
      const [hijacker, own] = [
        await people.signIn(userId, { passwordHash: 'hijacker' }),
        await people.signIn(userId, { passwordHash: 'own' }),
      ];
      await people.join(other, userId, { proven: 'own' }, { byOperator: true });
      assert.equal(await people.isLive(hijacker), false);
      assert.deepEqual((await people.standing(own)).entered, [other, third].toSorted());
      const [password] = (await store.findPerson(email))!.passwords;
      assert.deepEqual([password?.hash, password?.proven], ['own', true]);
      const noted = [one, other, third].map((id) => people.noted(id, 'password.voided'));
      assert.deepEqual(await Promise.all(noted), [1, 0, 0]);
    });

    it('end when the person chooses another through a link of the operator', async () => {
      const { people, one, other, userId } = await hijacked();
      const hijacker = await people.signIn(userId, { passwordHash: 'hijacker' });
      await people.join(one, userId, 'own', { byOperator: true });
      assert.equal(await people.isLive(hijacker), false);
      assert.deepEqual(await people.hashes(email), ['own']);
      await people.join(other, userId, { proven: 'own' });
      const own = await people.signIn(userId, { passwordHash: 'own' });
      assert.deepEqual((await people.standing(own)).entered, [one, other].toSorted());
      assert.equal(
        await people.noted(one, 'password.voided'),
        0,
        'the note of reopening it is written instead',
      );
    });

    it('end when the person resets their password by email, with their keys; their memberships stay open and proven', async () => {
      const { store } = world();
      const { people, one, other, userId } = await hijacked();
      await people.join(other, userId, 'own');
      await addKey(one, userId, 1);
      await addKey(one, userId, 2, true);
      const hijacker = await people.signIn(userId, { passwordHash: 'hijacker' });
      const reset = await people.invite(other, userId, { resets: true, byOperator: false });
      const change = { authority: proof(userId) };
      const notes = {
        accepted: note('password.changed', userId, change),
        closed: note('password.voided', userId, change),
      };
      const password = { id: 'pwd_reset' as PasswordId, hash: 'reset' };
      const accepted = await store.acceptInvitation(reset, { kind: 'chosen', password }, notes);
      assert.equal(accepted, 'accepted');
      assert.equal(await people.isLive(hijacker), false);
      assert.deepEqual((await store.findPerson(email))?.passwords, [{ ...password, proven: true }]);
      const session = await people.signIn(userId, { passwordHash: 'reset' });
      assert.deepEqual((await people.standing(session)).entered, [one, other].toSorted());
      assert.equal(await store.findKeyGrant(fakeHash(1)), undefined);
      assert.ok(await store.findKeyGrant(fakeHash(2)), 'the operator made this one');
      for (const [id, keysRevoked] of [
        [one, 1],
        [other, undefined],
      ] as const) {
        const events = (await store.listAudit(id, { limit: 50 })).events;
        const changed = events.filter(({ action }) => action === 'password.changed');
        assert.deepEqual(
          changed.map(({ detail }) => detail.keysRevoked),
          [keysRevoked],
        );
        assert.equal(await people.noted(id, 'password.voided'), 0);
      }
      await people.join(one, userId, { proven: 'reset' });
    });

    it('are removed with the last membership accepted with them', async () => {
      const { store } = world();
      const { people, one, other, userId } = await hijacked();
      await store.removeMember(one, email, false, note());
      assert.deepEqual(await people.hashes(email), []);
      await people.join(other, userId, 'own');
      await people.add(one, email);
      assert.deepEqual(await people.hashes(email), ['own']);
    });

    it('accept no membership without its link', async () => {
      const { store } = world();
      const { people, other, userId } = await hijacked();
      const hijacker = await people.signIn(userId, { passwordHash: 'hijacker' });
      const ended = await people.signIn(userId);
      await store.endSession(ended);
      const bobs = await people.signIn(await people.add(other, 'bob@example.org'));
      for (const token of [hijacker, ended, bobs]) {
        const joined = note('member.joined', userId, { authority: bySession(userId, token) });
        assert.equal(await store.acceptMembership(other, joined), 'unauthorized');
      }
      assert.equal((await store.findMember(other, email))?.opened, false);
      assert.equal(await people.noted(other, 'member.joined'), 0);
    });

    it('do not enter the membership of a service account', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [asPerson, asRobot, foreign] = [
        await world().organization(),
        await world().organization(),
        await world().organization(),
      ];
      const userId = await people.add(asPerson, email);
      await people.add(asRobot, email, { service: true });
      const joined = note('member.joined', userId, {
        authority: bySession(userId, await people.signIn(userId)),
      });
      for (const organization of [asRobot, foreign])
        assert.equal(await store.acceptMembership(organization, joined), 'missing');
      assert.equal((await store.findMember(asRobot, email))?.opened, false);
      assert.equal(await store.acceptMembership(asPerson, joined), 'accepted');
    });
  });

  describe('keys created by a session', () => {
    it('are rejected once it has ended', async () => {
      const { store } = world();
      const { people, organization, userId } = await oneMembership(world());
      await people.join(organization, userId, 'first');
      const sessionHash = await people.signIn(userId, { passwordHash: 'first' });
      const authority = bySession(userId, sessionHash, organization);
      const noted = () => note('key.created', 'key', { authority });
      const requestId = 'req_ended' as KeyRequestId;
      const request = { id: requestId, name: '', keepMs: day, waitingMax: 1 };
      assert.equal(await store.createKeyRequest(organization, request, noted()), 'created');
      const approval = { state: 'approved', by: userId, keepMs: day } as const;
      await store.decideKeyRequest(organization, requestId, approval, noted());
      const key = newKey(userId, 1, userId);
      assert.equal(await store.createApiKey(organization, key, noted()), 'created');

      await store.endSession(sessionHash);
      const next = { ...newKey(userId, 2), createdBy: userId };
      assert.equal(await store.createApiKey(organization, next, noted()), 'unauthorized');
      const rotation = { next, createdBy: userId, oldValidMs: 0 };
      assert.equal(await store.rotateApiKey(organization, key.id, rotation, noted()), 'unauthorized');
      const revealed = store.redeemKeyRequest(organization, requestId, next, noted());
      assert.equal(await revealed, 'unauthorized');
      assert.ok(await store.findKeyGrant(fakeHash(1)));
      assert.equal(await store.findKeyGrant(fakeHash(2)), undefined);
    });

    it('are revoked or rejected if the owner takes the account back from a thief at the same time', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      for (let round = 0; round < 8; round += 1) {
        const email = `owner-${round}@example.org`;
        const userId = await people.add(organization, email);
        await people.join(organization, userId, 'of the thief');
        const sessionHash = await people.signIn(userId, { passwordHash: 'of the thief' });
        const link = await people.invite(organization, userId, { resets: true });
        const authority = bySession(userId, sessionHash, organization);
        const keys = Array.from({ length: 10 }, (_, at) => newKey(userId, 10 * round + at, userId));
        const create = (key: ReturnType<typeof newKey>) =>
          store.createApiKey(organization, key, note('key.created', key.id, { authority }));
        const early = keys.slice(0, 5).map(create);
        const takenBack = round % 2 === 0 ? people.accept(link, 'of the owner') : people.bind(email);
        const late = keys.slice(5).map(create);
        await takenBack;
        for (const outcome of await Promise.all([...early, ...late]))
          assert.match(outcome, /^(?:created|unauthorized)$/);
        for (const { hash } of keys) assert.equal(await store.findKeyGrant(hash), undefined);
      }
    });
  });
}
