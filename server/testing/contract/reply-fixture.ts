import assert from 'node:assert/strict';
import type { OrganizationId } from '../../src/domain/id.ts';
import type { AssistantMessage } from '../../src/domain/message.ts';
import type { ClaimedReply, NewThread, Store } from '../../src/storage/port/store.ts';
import type { PersonsThread, World } from './fixture.ts';

export const leaseMs = 1000;
export const done = { content: 'Because.', steps: [{ description: 'Thought' }], sources: null, model: 'm' };
export const half = { status: 'corroborating', content: 'half', steps: [{ description: '1' }] } as const;

/** What the tests of replies share. */
export function replyTools(world: () => World) {
  return {
    async replyTo({ id }: { id: NewThread['id'] }, { organizationId }: { organizationId: OrganizationId }) {
      const found = await world().store.getThread(organizationId, id);
      return found?.messages[1] as AssistantMessage;
    },

    /** A thread of a new organization. */
    async oneThread(change: Partial<NewThread> = {}): Promise<PersonsThread> {
      const organization = await world().organization();
      return world().thread(organization, await world().member(organization), { accountId: 'a', ...change });
    },

    async claimOne(): Promise<ClaimedReply> {
      const [claim, ...others] = await world().claim(leaseMs);
      assert.equal(others.length, 0);
      assert.ok(claim, 'one reply waits');
      return claim;
    },

    async assertNothingWaits(store: Store = world().store): Promise<void> {
      assert.deepEqual(await store.organizationsWaiting(undefined, 10), []);
      assert.deepEqual(await world().claim(leaseMs, 10, store), []);
    },

    /** The worker of this claim can no longer write. */
    async assertOvertaken(old: ClaimedReply): Promise<void> {
      const { store } = world();
      assert.equal(await store.recordReplyProgress(old, half), false);
      assert.equal(await store.releaseReply(old, { delayMs: 0, failure: '' }), false);
      assert.deepEqual(await store.renewReplies([old], leaseMs), [old]);
      assert.equal(await store.releaseReply(old), false);
      assert.equal(await store.settleReply(old, { status: 'completed', ...done, content: 'stale' }), false);
    },
  };
}
