import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '../../src/domain/id.ts';
import type { AssistantMessage } from '../../src/domain/message.ts';
import { failedReplyContent } from '../../src/domain/reply.ts';
import type { NewThread } from '../../src/storage/port/store.ts';
import { by, granted, newFollowUp, note, noteBy, operator, skein, strangers, type World } from './fixture.ts';
import { done, half, leaseMs, replyTools } from './reply-fixture.ts';

export function describeReplies(world: () => World): void {
  const { replyTo, oneThread, claimOne, assertNothingWaits, assertOvertaken } = replyTools(world);
  const begun = ({ status, content, steps }: AssistantMessage) => [status, content, steps];

  describe('replies', () => {
    it('are claimed with everything needed to write them, and by one worker at a time', async () => {
      const { clock } = world();
      const thread = await oneThread();
      clock.pass(100);
      const claim = await claimOne();
      assert.equal(claim.messageId, thread.replyId);
      assert.equal(claim.threadId, thread.id);
      assert.equal(claim.accountId, 'a');
      assert.equal(claim.traceId, 'trace');
      assert.equal(claim.attempts, 0);
      assert.equal(claim.remainingMs, thread.replyDeadlineMs - 100);
      await assertNothingWaits();
      await assertNothingWaits(await world().node());
    });

    it('can be claimed in the commit that creates them', async () => {
      const { store, clock } = world();
      // Callers pass a claim that names the reply, too.
      const claim = { token: 2 ** 47, leaseMs, messageId: 'msg_1', threadId: 'thr_1' };
      const organizationId = await world().organization();
      const thread = await world().thread(organizationId, await world().member(organizationId), { claim });
      const held = { organizationId, threadId: thread.id, messageId: thread.replyId, token: claim.token };
      assert.deepEqual(begun(await replyTo(thread, held)), ['in_progress', '', []]);
      await assertNothingWaits();
      assert.deepEqual(await store.renewReplies([held], leaseMs), []);
      clock.pass(leaseMs + 1);
      await world().sweep();
      const successor = await claimOne();
      assert.deepEqual([successor.messageId, successor.attempts], [thread.replyId, 0]);
      assert.notEqual(successor.token, claim.token);
      assert.equal(await store.settleReply(held, { status: 'completed', ...done, steps: [] }), false);
      assert.equal(await store.settleReply(successor, { status: 'completed', ...done, steps: [] }), true);
    });

    it('are not claimed by a create that repeats another', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      const idempotency = { key: 'once', bodyHash: 'same', keepMs: 60_000 };
      const first = await world().thread(organizationId, userId, { idempotency });
      const again = { ...first, claim: { token: 7, leaseMs } };
      assert.equal(
        granted(await store.createThread(organizationId, again, by(again.userId))).outcome,
        'repeated',
      );
      assert.notEqual((await claimOne()).token, 7);
    });

    it('go to one worker each when many claim at once', async () => {
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      for (let index = 0; index < 20; index += 1) await world().thread(organizationId, userId);
      const nodes = [world().store, await world().node()];
      const claims = await Promise.all(
        [0, 1, 0, 1].map((node) => nodes[node]!.claimReplies([{ organizationId, limit: 7 }], leaseMs)),
      );
      const claimed = claims.flat().map(({ messageId }) => messageId);
      assert.equal(claimed.length, 20);
      assert.equal(new Set(claimed).size, 20);
    });

    it('are claimed by organization, up to the limit of each, the longest waiting first', async () => {
      const { store, clock } = world();
      const organizations = [await world().organization(), await world().organization()];
      const asked: NewThread[][] = [];
      for (const organization of organizations) {
        const userId = await world().member(organization);
        const threads: NewThread[] = [];
        for (let index = 0; index < 3; index += 1) {
          clock.pass(1);
          threads.push(await world().thread(organization, userId));
        }
        asked.push(threads);
      }
      const [first, second] = organizations as [OrganizationId, OrganizationId];
      const claimed = await store.claimReplies(
        [
          { organizationId: first, limit: 2 },
          { organizationId: second, limit: 1 },
        ],
        leaseMs,
      );
      const expected = [...asked[0]!.slice(0, 2), ...asked[1]!.slice(0, 1)];
      assert.deepEqual(
        claimed.map(({ messageId }) => messageId),
        expected.map(({ replyId }) => replyId),
      );
    });

    it('show which organizations have waiting replies, starting after any of them', async () => {
      const { store } = world();
      const organizations: OrganizationId[] = [];
      for (let index = 0; index < 4; index += 1) {
        const organization = await world().organization();
        const userId = await world().member(organization);
        for (let thread = 0; thread < 3; thread += 1) await world().thread(organization, userId);
        organizations.push(organization);
      }
      await world().organization();
      const [a, b, c, d] = organizations.sort();
      assert.deepEqual(await store.organizationsWaiting(undefined, 10), [a, b, c, d]);
      assert.deepEqual(await store.organizationsWaiting(b, 10), [c, d, a, b]);
      assert.deepEqual(await store.organizationsWaiting(b, 3), [c, d, a]);
      assert.deepEqual(await store.organizationsWaiting(d, 2), [a, b]);
      await store.claimReplies([{ organizationId: c!, limit: 3 }], leaseMs);
      assert.deepEqual(await store.organizationsWaiting(b, 10), [d, a, b]);
      assert.deepEqual(await store.organizationsWaiting(c, 10), [d, a, b]);
    });

    it('show steps and text as they grow, and end with everything in one commit', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      assert.equal(await store.recordReplyProgress(claim, half), true);
      const running = await replyTo(thread, claim);
      assert.deepEqual(begun(running), ['corroborating', 'half', [{ description: '1' }]]);
      assert.equal(running.completedAt, null);
      clock.pass(5);
      const steps = [{ description: 'Thought', at: clock.ms - 1 }, { description: 'Before times were kept' }];
      const sources = [{ id: 'doc_1', title: 'T', url: null, snippet: '🧶' }];
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done, steps, sources }), true);
      const ended = await replyTo(thread, claim);
      assert.deepEqual(
        { ...ended },
        {
          id: thread.replyId,
          threadId: thread.id,
          role: 'assistant',
          createdAt: clock.ms - 5,
          status: 'completed',
          completedAt: clock.ms,
          ...done,
          steps,
          sources,
        },
      );
    });

    it('keep the time of each step as they grow', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      const steps = [{ description: 'Searched', at: clock.ms }];
      assert.equal(await store.recordReplyProgress(claim, { ...half, steps }), true);
      assert.deepEqual((await replyTo(thread, claim)).steps, steps);
    });

    it('write the note of their end if there is one and the claim is still valid', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      const failed = { status: 'failed', ...done, failure: 'no' } as const;
      const notes = async () => {
        const events = (await store.listAudit(claim.organizationId, { limit: 10 })).events;
        return events
          .filter(({ action }) => action === 'reply.failed')
          .map(({ at, subject }) => [at, subject]);
      };
      const stale = { ...claim, token: claim.token + 1 };
      const late = note('reply.failed', 'late', { authority: skein });
      assert.equal(await store.settleReply(stale, { ...failed, note: late }), false);
      assert.deepEqual(await notes(), []);
      clock.pass(3);
      const kept = note('reply.failed', thread.id, { authority: skein });
      assert.equal(await store.settleReply(claim, { ...failed, note: kept }), true);
      assert.equal(await store.settleReply(claim, { ...failed, note: late }), false);
      assert.deepEqual(await notes(), [[clock.ms, thread.id]]);
    });

    it('are found by their thread while they run, by readers of the thread', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const thread = await world().thread(organization, userId);
      const found = (reader: typeof userId | null = userId) =>
        store.findRunningReply(organization, thread.id, { userId: reader });
      assert.equal(await found(), thread.replyId);
      assert.equal(await found(null), undefined);
      await store.setThreadPublished(organization, thread.id, true, note());
      assert.equal(await found(null), thread.replyId);
      const claim = await claimOne();
      await store.recordReplyProgress(claim, half);
      assert.equal(await found(), thread.replyId);
      await store.settleReply(claim, { status: 'completed', ...done });
      assert.equal(await found(), null);
      const followUp = newFollowUp();
      await store.addReply(organization, thread.id, followUp, by(userId));
      assert.equal(await found(), followUp.replyId);
      await store.deleteThread(organization, thread.id, noteBy(userId));
      assert.equal(await found(), undefined);
      assert.equal(await store.findRunningReply(organization, strangers.thread(), { userId }), undefined);
    });

    it('do not change after a terminal state', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      await store.settleReply(claim, { status: 'failed', ...done, failure: 'a secret reason' });
      const ended = await replyTo(thread, claim);
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done }), false);
      assert.equal(await store.recordReplyProgress(claim, half), false);
      assert.equal(await store.releaseReply(claim, { delayMs: 0, failure: '' }), false);
      assert.deepEqual(await store.renewReplies([claim], leaseMs), [claim]);
      await store.releaseReply(claim);
      assert.deepEqual(await store.cancelReplies(claim.organizationId, thread.id, operator), []);
      clock.pass(thread.replyDeadlineMs + leaseMs);
      assert.deepEqual(await world().sweep(), []);
      await store.releaseOrphanedReplies();
      assert.deepEqual(await replyTo(thread, claim), ended);
      await assertNothingWaits();
    });

    it('are claimed again from the start after a sweep found that the lease has ended', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const old = await claimOne();
      await store.recordReplyProgress(old, half);
      clock.pass(leaseMs - 1);
      await world().sweep();
      await assertNothingWaits();
      clock.pass(1);
      assert.deepEqual(await world().sweep(), []);
      const fresh = await claimOne();
      assert.notEqual(fresh.token, old.token);
      assert.equal(fresh.attempts, 0);
      assert.deepEqual(begun(await replyTo(thread, fresh)), ['in_progress', '', []]);
      await assertOvertaken(old);
      assert.equal(await store.settleReply(fresh, { status: 'completed', ...done }), true);
      assert.equal((await replyTo(thread, fresh)).content, 'Because.');
    });

    it('are not written by a worker whose lease was swept, even before another worker claims them', async () => {
      const { clock } = world();
      const thread = await oneThread();
      const old = await claimOne();
      clock.pass(leaseMs);
      await world().sweep();
      await assertOvertaken(old);
      assert.equal((await replyTo(thread, old)).status, 'in_progress');
      assert.equal((await claimOne()).messageId, old.messageId);
    });

    it('keep their lease when it is renewed, each separately', async () => {
      const { store, clock } = world();
      const [kept, lost] = [await oneThread(), await oneThread()];
      const claims = await world().claim(leaseMs);
      const findClaim = ({ replyId }: NewThread) => claims.find(({ messageId }) => messageId === replyId)!;
      clock.pass(leaseMs - 1);
      assert.deepEqual(await store.renewReplies([findClaim(kept)], leaseMs), []);
      clock.pass(1);
      await world().sweep();
      assert.deepEqual(await store.renewReplies(claims, leaseMs), [findClaim(lost)]);
      assert.equal((await claimOne()).messageId, lost.replyId);
    });

    it('wait again from the start, without losing an attempt, when they are released', async () => {
      const { store } = world();
      const thread = await oneThread();
      const old = await claimOne();
      await store.recordReplyProgress(old, half);
      await store.releaseReply(old);
      assert.deepEqual(begun(await replyTo(thread, old)), ['in_progress', '', []]);
      await assertOvertaken(old);
      const fresh = await claimOne();
      assert.equal(fresh.attempts, 0);
      await assertOvertaken(old);
    });

    it('wait the given time for their next attempt and start over', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const first = await claimOne();
      await store.recordReplyProgress(first, half);
      assert.equal(
        await store.releaseReply(first, { delayMs: 500, failure: 'The provider answered 503.' }),
        true,
      );
      assert.deepEqual(begun(await replyTo(thread, first)), ['in_progress', '', []]);
      await assertOvertaken(first);
      clock.pass(499);
      await assertNothingWaits();
      clock.pass(1);
      const second = await claimOne();
      assert.equal(second.attempts, 1);
      await store.releaseReply(second, { delayMs: 0, failure: '' });
      assert.equal((await claimOne()).attempts, 2);
    });

    it('fail after their deadline, held or not, and not before', async () => {
      const { store, clock } = world();
      const held = await oneThread({ replyDeadlineMs: 5000 });
      const claim = await claimOne();
      await store.recordReplyProgress(claim, half);
      const waiting = await oneThread({ replyDeadlineMs: 5000 });
      await oneThread({ replyDeadlineMs: 5001 });
      clock.pass(4999);
      await store.renewReplies([claim], leaseMs);
      assert.deepEqual(await world().sweep(), []);
      clock.pass(1);
      const failed = await world().sweep();
      assert.deepEqual(
        failed.map(({ messageId }) => messageId).sort(),
        [held.replyId, waiting.replyId].sort(),
      );
      for (const name of failed) {
        const [, reply] = (await store.getThread(name.organizationId, name.threadId))!.messages;
        const { status, content, completedAt } = reply as AssistantMessage;
        assert.deepEqual([status, content, completedAt], ['failed', failedReplyContent, clock.ms]);
      }
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done }), false);
      assert.equal((await world().claim(leaseMs)).length, 1);
    });

    it('are cancelled by thread and keep their text', async () => {
      const { store, clock } = world();
      const [thread, other] = [await oneThread(), await oneThread()];
      const claims = await world().claim(leaseMs);
      const claim = claims.find(({ messageId }) => messageId === thread.replyId)!;
      await store.recordReplyProgress(claim, half);
      clock.pass(5);
      assert.deepEqual(await store.cancelReplies(claim.organizationId, thread.id, operator), [
        thread.replyId,
      ]);
      const { status, content, steps, completedAt } = await replyTo(thread, claim);
      assert.deepEqual([status, content, completedAt], ['cancelled', 'half', clock.ms]);
      assert.deepEqual(steps, [{ description: '1' }]);
      assert.deepEqual(await store.cancelReplies(claim.organizationId, thread.id, operator), []);
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done }), false);
      const otherClaim = claims.find(({ messageId }) => messageId === other.replyId)!;
      assert.equal(await store.settleReply(otherClaim, { status: 'completed', ...done }), true);
    });

    it('are neither claimed nor written after their thread is deleted', async () => {
      const { store } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      const deleted = await store.deleteThread(claim.organizationId, thread.id, noteBy(thread.userId));
      assert.deepEqual(deleted, { outcome: 'deleted', cancelled: [thread.replyId] });
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done }), false);
      assert.equal((await replyTo(thread, claim)).status, 'cancelled');
      await assertNothingWaits();
    });

    it('are reported as ended or still running', async () => {
      const { store } = world();
      const [waiting, held, ended] = [await oneThread(), await oneThread(), await oneThread()];
      const claims = await world().claim(leaseMs);
      const findClaim = ({ replyId }: NewThread) => claims.find(({ messageId }) => messageId === replyId)!;
      await store.releaseReply(findClaim(waiting));
      await store.settleReply(findClaim(ended), { status: 'completed', ...done });
      const stranger = { ...findClaim(held), messageId: strangers.message() };
      const asked = [findClaim(waiting), findClaim(held), findClaim(ended), stranger];
      assert.deepEqual(await store.endedReplies(asked), [findClaim(ended), stranger]);
      assert.deepEqual(await (await world().node()).endedReplies(asked), [findClaim(ended), stranger]);
      assert.deepEqual(await store.endedReplies([]), []);
    });

    it('are counted over all organizations, with the age of the oldest waiting one', async () => {
      const { store, clock } = world();
      const holds = async (waiting: number, held: number, oldestWaitingMs: number | null) =>
        assert.deepEqual(await store.replyBacklog(), { waiting, held, oldestWaitingMs, suspects: 0 });
      await holds(0, 0, null);
      const first = await oneThread();
      clock.pass(30);
      await holds(1, 0, 30);
      const claim = await claimOne();
      await holds(0, 1, null);
      await oneThread();
      clock.pass(10);
      await holds(1, 1, 10);
      assert.equal(await store.releaseReply(claim, { delayMs: 500, failure: 'x' }), true);
      await holds(2, 0, 40);
      const other = await claimOne();
      await holds(1, 1, 40);
      assert.equal(await store.settleReply(other, { status: 'completed', ...done }), true);
      await holds(1, 0, 40);
      await store.cancelReplies(claim.organizationId, first.id, operator);
      await holds(0, 0, null);
    });
  });
}
