import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crashesOfSuspect, failureReasons } from '../../src/domain/reply.ts';
import type { ClaimedReply, NewThread } from '../../src/storage/port/store.ts';
import { by, granted, newFollowUp, newRetry, operator, type World } from './fixture.ts';
import { done, half, leaseMs, replyTools } from './reply-fixture.ts';

export function describeAbandonedReplies(world: () => World): void {
  const { replyTo, oneThread, claimOne, assertOvertaken } = replyTools(world);
  const claimSuspects = () => world().claim(leaseMs, 100, world().store, 'suspects');

  /** Returns its last claim, which is lost. */
  async function makeSuspect(change: Partial<NewThread> = {}): Promise<ClaimedReply> {
    await oneThread(change);
    for (let crashes = 1; ; crashes += 1) {
      const claim = await claimOne();
      world().clock.pass(leaseMs);
      await world().sweep();
      if (crashes === crashesOfSuspect) return claim;
    }
  }

  describe('replies whose worker died', () => {
    it('start over without losing an attempt, however often it happens', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      for (let crashes = 0; crashes < 5; crashes += 1) {
        const [claim] = [...(await world().claim(leaseMs)), ...(await claimSuspects())];
        assert.equal(claim?.attempts, 0);
        clock.pass(leaseMs);
        const { organizationId, threadId, messageId } = claim!;
        const crashed = [{ organizationId, threadId, messageId }];
        assert.deepEqual(await store.sweepReplies({ leases: true }), { failed: [], crashed });
      }
      const [claim] = await claimSuspects();
      assert.equal(await store.settleReply(claim!, { status: 'completed', ...done }), true);
      assert.equal((await replyTo(thread, claim!)).status, 'completed');
    });

    it('still lose an attempt for each failure of the model', async () => {
      const { store, clock } = world();
      await oneThread();
      assert.equal(await store.releaseReply(await claimOne(), { delayMs: 0, failure: '503' }), true);
      assert.equal((await claimOne()).attempts, 1);
      clock.pass(leaseMs);
      await world().sweep();
      assert.equal((await claimOne()).attempts, 1);
    });

    it('wait in a queue of their own from the second crash on', async () => {
      const { store } = world();
      const suspect = await makeSuspect();
      const usual = await oneThread();
      assert.equal((await claimOne()).messageId, usual.replyId);
      assert.deepEqual(await store.organizationsWaiting(undefined, 10), []);
      assert.deepEqual(await store.organizationsWaiting(undefined, 10, 'suspects'), [suspect.organizationId]);
      assert.equal((await store.replyBacklog()).waiting, 1);
      const [claim] = await claimSuspects();
      assert.equal(claim?.messageId, suspect.messageId);
      assert.deepEqual(await store.organizationsWaiting(undefined, 10, 'suspects'), []);
      const { waiting, held, suspects } = await store.replyBacklog();
      assert.deepEqual([waiting, held, suspects], [0, 2, 1]);
      // Each as often as its attempts allow, and after a pause.
      assert.equal(await store.releaseReply(claim!, { delayMs: 500, failure: 'It died.' }), true);
      assert.deepEqual(await claimSuspects(), []);
      world().clock.pass(500);
      assert.equal((await claimSuspects())[0]?.attempts, 1);
    });

    it('are claimed in the same way from either queue', async () => {
      const first = await makeSuspect({ replyDeadlineMs: 100 * leaseMs });
      const second = await makeSuspect({ replyDeadlineMs: 100 * leaseMs });
      const { store } = world();
      const organizations = [first, second].map(({ organizationId }) => organizationId).sort();
      assert.deepEqual(await store.organizationsWaiting(undefined, 10, 'suspects'), organizations);
      const after = await store.organizationsWaiting(organizations[0], 1, 'suspects');
      assert.deepEqual(after, [organizations[1]]);
      const shares = [{ organizationId: first.organizationId, limit: 5 }];
      const claimed = await store.claimReplies(shares, leaseMs, 'suspects');
      assert.deepEqual(
        claimed.map(({ messageId }) => messageId),
        [first.messageId],
      );
      await assertOvertaken(first);
    });

    it('make a suspect also if their workers report the crash themselves', async () => {
      const { store } = world();
      const thread = await oneThread();
      for (let crashes = 0; crashes < crashesOfSuspect; crashes += 1) {
        const claim = await claimOne();
        await store.recordReplyProgress(claim, half);
        assert.equal(await store.releaseReply(claim, 'crash'), true);
        assert.equal((await replyTo(thread, claim)).content, '');
      }
      const [claim] = await claimSuspects();
      assert.equal(claim?.attempts, 0);
    });

    for (const [how, reply] of [
      ['retry', newRetry],
      ['follow-up', newFollowUp],
    ] as const) {
      it(`leave their suspicion to a ${how} if they end without a reply, and not after one`, async () => {
        const { store } = world();
        const suspect = await makeSuspect();
        const { organizationId, threadId } = suspect;
        const { userId } = (await store.findThread(organizationId, threadId))!;
        const ask = async () => granted(await store.addReply(organizationId, threadId, reply(), by(userId)));
        const [claim] = await claimSuspects();
        await store.settleReply(claim!, { status: 'failed', ...done, failure: 'It died.' });
        assert.equal((await ask()).outcome, 'added');
        assert.deepEqual(await world().claim(leaseMs), []);
        const [again] = await claimSuspects();
        assert.notEqual(again?.messageId, suspect.messageId);
        assert.equal(again?.attempts, 0);
        assert.deepEqual(await store.cancelReplies(organizationId, threadId, operator), [again?.messageId]);
        assert.equal((await ask()).outcome, 'added');
        const [last] = await claimSuspects();
        await store.settleReply(last!, { status: 'completed', ...done });
        assert.equal((await ask()).outcome, 'added');
        assert.deepEqual(await claimSuspects(), []);
        await claimOne();
      });
    }

    it('keep their claim when the worker renews late, but before a sweep that ends leases', async () => {
      const { store, clock } = world();
      await oneThread();
      const claim = await claimOne();
      clock.pass(10 * leaseMs);
      assert.deepEqual(await world().sweep(store, { leases: false }), []);
      assert.deepEqual(await store.renewReplies([claim], leaseMs), []);
      assert.deepEqual(await world().sweep(), []);
      assert.deepEqual(await world().claim(leaseMs), []);
      await store.releaseReply(claim);
      assert.equal((await claimOne()).attempts, 0);
    });

    it('still fail at their deadline in a sweep that does not end leases', async () => {
      const { store, clock } = world();
      await oneThread({ replyDeadlineMs: 5 * leaseMs });
      await claimOne();
      clock.pass(5 * leaseMs);
      const [failed] = await world().sweep(store, { leases: false });
      assert.equal(failed?.failure, failureReasons.overdue);
    });

    it('are released at the start of a worker that is alone, which counts as a crash', async () => {
      const { store } = world();
      await oneThread();
      const before = await claimOne();
      const crashed = await store.releaseOrphanedReplies();
      const claims = await world().claim(leaseMs);
      // A store that cannot tell whether other workers run waits for the end of the lease.
      assert.equal(crashed.length, claims.length);
      if (claims.length === 0) return;
      assert.deepEqual([crashed[0]!.messageId, claims[0]!.attempts], [before.messageId, 0]);
      assert.notEqual(claims[0]!.token, before.token);
      world().clock.pass(leaseMs);
      await world().sweep();
      assert.deepEqual(await world().claim(leaseMs), []);
      assert.equal((await claimSuspects()).length, 1);
    });

    it('fail at their deadline, however often their workers died', async () => {
      const { clock } = world();
      const { messageId } = await makeSuspect({ replyDeadlineMs: 5 * leaseMs });
      clock.pass(5 * leaseMs);
      const [failed] = await world().sweep();
      assert.deepEqual([failed?.messageId, failed?.failure], [messageId, failureReasons.overdue]);
      assert.deepEqual(await claimSuspects(), []);
    });

    it('are not claimed past their deadline, even before a sweep has failed them', async () => {
      const { clock } = world();
      const [late, early] = [
        await oneThread({ replyDeadlineMs: 5000 }),
        await oneThread({ replyDeadlineMs: 5001 }),
      ];
      clock.pass(5000);
      assert.equal((await claimOne()).messageId, early.replyId);
      assert.deepEqual(
        (await world().sweep()).map(({ messageId }) => messageId),
        [late.replyId],
      );
    });
  });
}
