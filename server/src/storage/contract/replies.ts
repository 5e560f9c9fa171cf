import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AssistantMessage } from '../../domain/message.ts';
import type { ClaimedReply, NewThread } from '../store.ts';
import type { World } from './fixture.ts';

const leaseMs = 1000;

export function describeReplies(world: () => World): void {
  describe('replies', () => {
    async function replyTo(thread: NewThread, claim: ClaimedReply): Promise<AssistantMessage> {
      const found = await world().store.getThread(claim.organizationId, thread.id);
      return found?.messages[1] as AssistantMessage;
    }
    async function oneThread(): Promise<NewThread> {
      const organization = await world().organization();
      return world().thread(organization, await world().member(organization), {
        prompt: 'Why?',
        accountId: 'a',
      });
    }
    async function claimOne(): Promise<ClaimedReply> {
      const [claim, ...others] = await world().store.claimReplies(10, leaseMs);
      assert.equal(others.length, 0);
      assert.ok(claim);
      return claim;
    }
    const done = { content: 'Because.', steps: [{ description: 'Thought' }], sources: null, model: 'm' };

    it('are claimed with all that is needed to write them, and by nobody else meanwhile', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      assert.equal(claim.messageId, thread.replyId);
      assert.equal(claim.threadId, thread.id);
      assert.equal(claim.prompt, 'Why?');
      assert.equal(claim.accountId, 'a');
      assert.equal(claim.traceId, 'trace');
      assert.equal(claim.deadlineAt, clock.ms + thread.replyDeadlineMs);
      assert.deepEqual(await store.claimReplies(10, leaseMs), []);
      assert.deepEqual(await (await world().node()).claimReplies(10, leaseMs), []);
    });

    it('go to one worker each, however many claim at once', async () => {
      const organization = await world().organization();
      const userId = await world().member(organization);
      for (let index = 0; index < 20; index += 1) await world().thread(organization, userId);
      const nodes = [world().store, await world().node()];
      const claims = await Promise.all([0, 1, 0, 1].map((node) => nodes[node]!.claimReplies(7, leaseMs)));
      const claimed = claims.flat().map(({ messageId }) => messageId);
      assert.equal(claimed.length, 20);
      assert.equal(new Set(claimed).size, 20);
    });

    it('show steps and text as they grow, and end with everything in one commit', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      const progress = {
        status: 'corroborating',
        content: 'Beca',
        steps: [{ description: '1' }],
        leaseMs,
      } as const;
      assert.equal(await store.recordReplyProgress(claim, progress), true);
      const running = await replyTo(thread, claim);
      assert.equal(running.status, 'corroborating');
      assert.equal(running.content, 'Beca');
      assert.deepEqual(running.steps, [{ description: '1' }]);
      assert.equal(running.completedAt, null);
      clock.ms += 5;
      const sources = [{ id: 'doc_1', title: 'T', url: null, snippet: '🧶' }];
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done, sources }), true);
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
          sources,
        },
      );
    });

    it('absorb in a terminal state', async () => {
      const { store } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      await store.settleReply(claim, { status: 'failed', ...done, failure: 'a secret reason' });
      const ended = await replyTo(thread, claim);
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done }), false);
      const late = { status: 'in_progress', content: 'late', steps: [], leaseMs } as const;
      assert.equal(await store.recordReplyProgress(claim, late), false);
      assert.deepEqual(await replyTo(thread, claim), ended);
      assert.deepEqual(await store.claimReplies(10, leaseMs), []);
    });

    it('are claimed anew and from their beginning when the lease has run out; the old claim writes nothing', async () => {
      const { store, clock } = world();
      const thread = await oneThread();
      const old = await claimOne();
      await store.recordReplyProgress(old, {
        status: 'corroborating',
        content: 'half',
        steps: [{ description: '1' }],
        leaseMs,
      });
      clock.ms += leaseMs - 1;
      assert.deepEqual(await store.claimReplies(10, leaseMs), []);
      clock.ms += 1;
      const fresh = await claimOne();
      assert.ok(fresh.token > old.token);
      const begun = await replyTo(thread, fresh);
      assert.deepEqual([begun.status, begun.content, begun.steps], ['in_progress', '', []]);
      assert.equal(await store.settleReply(old, { status: 'completed', ...done, content: 'stale' }), false);
      assert.equal(await store.settleReply(fresh, { status: 'completed', ...done }), true);
      assert.equal((await replyTo(thread, fresh)).content, 'Because.');
    });

    it('keep their lease by progress, and lose it by release', async () => {
      const { store, clock } = world();
      await oneThread();
      const claim = await claimOne();
      clock.ms += leaseMs - 1;
      await store.recordReplyProgress(claim, { status: 'in_progress', content: '', steps: [], leaseMs });
      clock.ms += leaseMs - 1;
      assert.deepEqual(await store.claimReplies(10, leaseMs), []);
      await store.releaseReply(claim);
      assert.equal((await claimOne()).messageId, claim.messageId);
    });

    it('are not claimed, and not written, once their thread is deleted', async () => {
      const { store } = world();
      const thread = await oneThread();
      const claim = await claimOne();
      await store.deleteThread(claim.organizationId, thread.id, thread.userId);
      assert.equal(await store.settleReply(claim, { status: 'completed', ...done }), false);
      assert.equal((await replyTo(thread, claim)).status, 'cancelled');
      assert.deepEqual(await store.claimReplies(10, leaseMs), []);
    });
  });
}
