import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClaimedMail, Store } from '../../src/storage/port/store.ts';
import { Accounting, day, freshHash, oneMembership } from './account-fixture.ts';
import { note, operator, skein, type World } from './fixture.ts';

const leaseMs = 60_000;
const sealedLink = 'sealed';

export function describeMails(world: () => World): void {
  describe('mails', () => {
    const claim = (after = '', store: Store = world().store) => store.claimMail(after, leaseMs);
    const mailState = async ({ organizationId, userId }: ClaimedMail) =>
      (await world().store.findMemberById(organizationId, userId))?.mailState;

    /** A person whose invitation is sent by email. */
    async function mailed() {
      const one = await oneMembership(world());
      const tokenHash = await one.people.invite(one.organization, one.userId, { sealedLink });
      return { ...one, tokenHash };
    }

    it('are claimed with everything that the email says', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const organization = await world().organization({ name: 'Home' });
      const userId = await people.add(organization, 'ada@example.org');
      const tokenHash = await people.invite(organization, userId, { sealedLink, resets: true, keepMs: day });
      assert.deepEqual(await claim(), {
        organizationId: organization,
        organizationName: 'Home',
        userId,
        email: 'ada@example.org',
        tokenHash,
        sealedLink,
        resets: true,
        byOperator: true,
        expiresAt: clock.ms + day,
        attempts: 1,
      });
      assert.equal((await store.findMemberById(organization, userId))?.mailState, 'waiting');
    });

    it('exist only for invitations that are sent by email', async () => {
      const { people, organization, userId, store } = await oneMembership(world());
      await people.invite(organization, userId);
      assert.equal(await claim(), undefined);
      assert.equal((await store.findMemberById(organization, userId))?.mailState, null);
    });

    it('are claimed by one worker at a time, and again when the lease has expired', async () => {
      const { clock } = await mailed();
      const other = await world().node();
      const claims = await Promise.all([claim(), claim('', other), claim(), claim('', other)]);
      assert.equal(claims.filter((one) => one !== undefined).length, 1);
      clock.pass(leaseMs - 1);
      assert.equal(await claim('', other), undefined);
      clock.pass(1);
      assert.equal((await claim('', other))?.attempts, 2);
    });

    it('are never sent again once they are sent, and keep no link', async () => {
      const { store, clock } = await mailed();
      const mail = (await claim())!;
      clock.pass(leaseMs);
      const again = (await claim())!;
      // The first process was slow, but the server had accepted its email.
      await store.settleMail(mail, { state: 'sent' });
      assert.equal(await mailState(mail), 'sent');
      await store.settleMail(again, { state: 'waiting', retryMs: 0 });
      await store.settleMail(again, {
        state: 'failed',
        note: note('member.mail-failed', undefined, { authority: skein }),
      });
      clock.pass(day);
      assert.deepEqual([await claim(), await mailState(mail)], [undefined, 'sent']);
    });

    it('wait for the next attempt after a failure', async () => {
      const { store, clock } = await mailed();
      await store.settleMail((await claim())!, { state: 'waiting', retryMs: 1000 });
      clock.pass(999);
      assert.equal(await claim(), undefined);
      clock.pass(1);
      assert.equal((await claim())?.attempts, 2);
    });

    it('are not rescheduled by a worker that lost its claim', async () => {
      const { store, clock } = await mailed();
      const late = (await claim())!;
      clock.pass(leaseMs);
      assert.equal((await claim())?.attempts, 2);
      await store.settleMail(late, { state: 'waiting', retryMs: 0 });
      await store.settleMail(late, {
        state: 'failed',
        note: note('member.mail-failed', undefined, { authority: skein }),
      });
      assert.deepEqual([await claim(), await mailState(late)], [undefined, 'waiting']);
    });

    it('are given up with a note in the audit log', async () => {
      const { store, clock, people, organization, userId, tokenHash } = await mailed();
      const mail = (await claim())!;
      const failed = {
        state: 'failed',
        note: note('member.mail-failed', userId, { authority: skein }),
      } as const;
      await store.settleMail(mail, failed);
      clock.pass(leaseMs);
      assert.deepEqual([await claim(), await mailState(mail)], [undefined, 'failed']);
      assert.equal(await people.noted(organization, 'member.mail-failed', userId), 1);
      assert.ok(await store.findInvitation(tokenHash), 'the link itself still works');
    });

    it('are replaced with their invitation', async () => {
      const { store, people, organization, userId } = await mailed();
      const old = (await claim())!;
      const tokenHash = freshHash();
      await people.invite(organization, userId, { tokenHash, sealedLink: 'new' });
      await store.settleMail(old, { state: 'sent' });
      const { sealedLink, attempts, tokenHash: claimed } = (await claim())!;
      assert.deepEqual([sealedLink, attempts, claimed], ['new', 1, tokenHash]);
      await people.invite(organization, userId);
      world().clock.pass(leaseMs);
      assert.equal(await claim(), undefined, 'the last one is not sent by email');
    });

    it('are gone once the invitation is used or has expired, or the member is removed', async () => {
      const { store, clock, people, organization, userId, tokenHash } = await mailed();
      await people.accept(tokenHash, 'hash');
      assert.equal(await claim(), undefined);
      const eve = await people.add(organization, 'eve@example.org');
      await people.invite(organization, eve, { sealedLink });
      await store.removeMember(organization, 'eve@example.org', false, note());
      assert.equal(await claim(), undefined);
      await people.invite(organization, userId, { sealedLink, keepMs: day });
      clock.pass(day);
      assert.equal(await claim(), undefined);
    });

    it('of organizations take turns', async () => {
      const people = new Accounting(world());
      const organizations = [];
      for (const mails of [5, 1, 2]) {
        const organization = await world().organization();
        organizations.push(organization);
        for (let index = 0; index < mails; index += 1) {
          const userId = await people.add(organization, `${organization}${index}@example.org`);
          await people.invite(organization, userId, { sealedLink });
        }
      }
      const [busy, single, pair] = organizations;
      const order = [];
      let after = '';
      for (let mail = await claim(after); mail !== undefined; mail = await claim(after)) {
        after = mail.organizationId;
        order.push(after);
      }
      const next = organizations.toSorted();
      assert.deepEqual(order.slice(0, 3), next);
      assert.deepEqual(
        order.slice(3, 5),
        next.filter((one) => one !== single),
      );
      assert.deepEqual(order.slice(5), [busy, busy, busy]);
      assert.ok(order.includes(pair!));
    });

    it('to a person and of an organization are counted apart from prompts', async () => {
      const { store } = world();
      const organization = await world().organization();
      const ada = await world().member(organization);
      const count = (period: 'mail' | 'day') =>
        store.countPrompt(organization, ada, { period, personMax: 1, organizationMax: 9 }, operator);
      assert.deepEqual([await count('mail'), await count('day')], ['counted', 'counted']);
      for (const period of ['mail', 'day'] as const)
        assert.partialDeepStrictEqual(await count(period), { over: 'person' });
    });
  });
}
