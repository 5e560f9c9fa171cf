import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failedReplyContent, failureReasons } from '../../src/domain/reply.ts';
import { attemptsMax, type World } from './fixture.ts';
import { done, leaseMs, replyTools } from './reply-fixture.ts';

export function describeAbandonedReplies(world: () => World): void {
  const { replyTo, oneThread, claimOne } = replyTools(world);

  describe('replies whose worker died', () => {
    it('lose one attempt for each worker that dies, and fail with the last', async () => {
      const { clock } = world();
      const { traceId } = await oneThread();
      for (let deaths = 0; deaths < attemptsMax - 1; deaths += 1) {
        assert.equal((await claimOne()).attempts, deaths);
        clock.pass(leaseMs);
        assert.deepEqual(await world().sweep(), []);
      }
      const last = await claimOne();
      assert.equal(last.attempts, attemptsMax - 1);
      clock.pass(leaseMs);
      const { organizationId, threadId, messageId } = last;
      const failure = failureReasons.abandoned;
      assert.deepEqual(await world().sweep(), [{ organizationId, threadId, messageId, traceId, failure }]);
      const { status, content, completedAt } = await replyTo({ id: last.threadId }, last);
      assert.deepEqual([status, content, completedAt], ['failed', failedReplyContent, clock.ms]);
      const [origin] = await world().replyDetails(organizationId, threadId);
      assert.equal(origin?.failure, failure);
      assert.deepEqual(await world().claim(leaseMs), []);
    });

    it('count dead workers and failures of the model together', async () => {
      const { store, clock } = world();
      await oneThread();
      assert.equal(await store.releaseReply(await claimOne(), { delayMs: 0, failure: '503' }), true);
      await claimOne();
      clock.pass(leaseMs);
      assert.deepEqual(await world().sweep(), []);
      assert.equal((await claimOne()).attempts, 2);
      clock.pass(leaseMs);
      assert.equal((await world().sweep()).length, 1);
    });

    it('are counted separately: each has its own attempts', async () => {
      const { store, clock } = world();
      const [worn, fresh] = [await oneThread(), await oneThread()];
      const claimed = await world().claim(leaseMs);
      const other = claimed.find(({ messageId }) => messageId === fresh.replyId)!;
      await store.settleReply(other, { status: 'completed', ...done });
      for (let deaths = 1; deaths < attemptsMax; deaths += 1) {
        clock.pass(leaseMs);
        await world().sweep();
        await world().claim(leaseMs);
      }
      const young = await oneThread();
      await world().claim(leaseMs);
      clock.pass(leaseMs);
      assert.deepEqual(
        (await world().sweep()).map(({ messageId }) => messageId),
        [worn.replyId],
      );
      const { messageId, attempts } = await claimOne();
      assert.deepEqual([messageId, attempts], [young.replyId, 1]);
    });

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

    it('are released at the start of a worker that is alone, which counts as an attempt', async () => {
      const { store } = world();
      await oneThread();
      const before = await claimOne();
      const failed = await store.releaseOrphanedReplies(attemptsMax);
      assert.deepEqual(failed, []);
      // A store that cannot tell whether other workers run waits for the end of the lease.
      const claims = await world().claim(leaseMs);
      if (claims.length === 0) return;
      assert.equal(claims[0]!.attempts, 1);
      assert.notEqual(claims[0]!.token, before.token);
    });

    it('fail at the start of a worker that is alone if no attempt is left', async () => {
      const { store, clock } = world();
      await oneThread();
      for (let deaths = 1; deaths < attemptsMax; deaths += 1) {
        await claimOne();
        clock.pass(leaseMs);
        await world().sweep();
      }
      const last = await claimOne();
      const failed = await store.releaseOrphanedReplies(attemptsMax);
      const status = (await replyTo({ id: last.threadId }, last)).status;
      assert.equal(status, failed.length === 1 ? 'failed' : 'in_progress');
      clock.pass(leaseMs);
      assert.equal(failed.length + (await world().sweep()).length, 1);
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
