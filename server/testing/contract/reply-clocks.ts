import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { note, strangers, type World } from './fixture.ts';
import { half, leaseMs, replyTools } from './reply-fixture.ts';

/** What happens to replies when a clock is set forward or back. */
export function describeReplyClocks(world: () => World): void {
  const { oneThread, claimOne, assertNothingWaits, assertOvertaken } = replyTools(world);

  describe('replies', () => {
    it('still reach their leases and deadlines when the clock is set back', async () => {
      const { store, clock } = world();
      await oneThread({ replyDeadlineMs: 60_000 });
      const claim = await claimOne();
      clock.ms -= 3_600_000;
      assert.deepEqual(await store.renewReplies([claim], leaseMs), []);
      clock.pass(3 * leaseMs);
      await world().sweep();
      const fresh = await claimOne();
      assert.notEqual(fresh.token, claim.token);
      clock.pass(150_000);
      assert.equal((await world().sweep()).length, 1);
    });

    it('do not end early because of a process that was idle while the clock was set back', async () => {
      const { clock } = world();
      const idle = await world().node();
      await oneThread({ replyDeadlineMs: 60_000 });
      clock.ms -= 3_600_000;
      assert.deepEqual(await world().sweep(idle), []);
      // Others continue: the idle process has to count from their last write, not from its own.
      for (let round = 0; round < 10; round += 1) {
        clock.pass(10_000);
        await oneThread();
        assert.deepEqual(await world().sweep(idle), [], `after ${round}`);
      }
      clock.pass(60_000);
      await world().sweep();
    });

    it('keep their leases and deadlines when the clock is set forward, held or waiting', async () => {
      const { store, clock } = world();
      const other = await world().node();
      await oneThread({ replyDeadlineMs: 60_000 });
      const claim = await claimOne();
      await oneThread({ replyDeadlineMs: 60_000 });
      clock.ms += 3_600_000;
      // Created after the jump and before a process detected it.
      const late = await oneThread({ replyDeadlineMs: 60_000 });
      for (const node of [store, other, store]) assert.deepEqual(await world().sweep(node), []);
      assert.deepEqual(await store.renewReplies([claim], leaseMs), []);
      clock.pass(leaseMs - 1);
      for (const node of [store, other]) assert.deepEqual(await world().sweep(node), []);
      assert.equal(await store.recordReplyProgress(claim, half), true);
      // A second jump, after the first.
      clock.ms += 7_200_000;
      for (const node of [other, store]) assert.deepEqual(await world().sweep(node), []);
      clock.pass(1);
      await world().sweep(other);
      await assertOvertaken(claim);
      clock.pass(60_000 - leaseMs - 1);
      assert.deepEqual(await world().sweep(), []);
      clock.pass(1);
      const failed = await world().sweep(other);
      assert.equal(failed.length, 3);
      assert.ok(failed.some(({ messageId }) => messageId === late.replyId));
    });

    it('do not wait shorter for their next attempt when the clock is set forward', async () => {
      const { store, clock } = world();
      await oneThread();
      await store.releaseReply(await claimOne(), { delayMs: 5_000, failure: '' });
      clock.ms += 3_600_000;
      await world().sweep();
      await assertNothingWaits();
      clock.pass(5_000);
      await claimOne();
    });

    it('keep their deadlines if a command writes to the store before a sweep detects the jump', async () => {
      const { clock } = world();
      await oneThread({ replyDeadlineMs: 60_000 });
      clock.ms += 3_600_000;
      const command = await world().node();
      await command.createOrganization(
        { id: strangers.organization(), name: 'Other', apiEnabled: true, dailyQuota: 1 },
        note(),
      );
      assert.deepEqual(await world().sweep(), []);
      await claimOne();
    });
  });

  describe('the clock', () => {
    it('reports how far it is ahead of the wall clock', async () => {
      const { store, clock } = world();
      assert.equal(await store.clockAheadMs(), 0);
      await world().organization();
      await world().sweep();
      clock.ms -= 60_000;
      const aheadMs = await store.clockAheadMs();
      assert.ok(aheadMs > 58_000 && aheadMs <= 60_000, `${aheadMs} ms`);
    });
  });
}
