import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId, ThreadId, UserId } from '../../src/domain/id.ts';
import { by, fakeHash, granted, newThread, noteBy, strangers, type World } from './fixture.ts';

/** Stores may batch calls that arrive together. Callers must not see a difference. */
export function describeConcurrentCalls(world: () => World): void {
  describe('calls that arrive together', () => {
    async function makeAcme(): Promise<{
      organization: OrganizationId;
      userId: UserId;
      threads: ThreadId[];
    }> {
      const organization = await world().organization();
      const userId = await world().member(organization);
      const threads: ThreadId[] = [];
      for (let made = 0; made < 4; made += 1) threads.push((await world().thread(organization, userId)).id);
      return { organization, userId, threads };
    }

    it('each get their own outcome of a create, even if one of them fails', async () => {
      const { store } = world();
      const { organization, userId, threads } = await makeAcme();
      const idempotency = { key: 'k', bodyHash: fakeHash(9), keepMs: 1000 };
      const first = newThread(userId, { idempotency });
      const fresh = [newThread(userId), newThread(userId)];
      const unknownKey = { kind: 'key', userId, keyHash: fakeHash(1) } as const;
      const settled = await Promise.allSettled([
        store.createThread(organization, fresh[0]!, by(userId)),
        store.createThread(organization, newThread(userId, { id: threads[0]! }), by(userId)),
        store.createThread(organization, newThread(userId), unknownKey),
        store.createThread(organization, first, by(first.userId)),
        store.createThread(organization, newThread(userId, { idempotency }), by(userId)),
        store.createThread(
          organization,
          newThread(userId, { idempotency: { ...idempotency, bodyHash: fakeHash(8) } }),
          by(userId),
        ),
        store.createThread(strangers.organization(), newThread(userId), unknownKey),
        store.createThread(organization, fresh[1]!, by(userId)),
      ]);
      const outcomes = settled.map((each) => {
        if (each.status === 'rejected') return 'failed';
        return each.value === 'unauthorized' ? each.value : each.value.outcome;
      });
      const expected = [
        'created',
        'failed',
        'unauthorized',
        'created',
        'repeated',
        'key-reused',
        'unauthorized',
        'created',
      ];
      assert.deepEqual(outcomes, expected);
      const repeated = settled[4] as PromiseFulfilledResult<object>;
      const { id: threadId, messageId, replyId } = first;
      assert.partialDeepStrictEqual(repeated.value, { threadId, messageId, replyId });
      const listed = await world().walk(organization, { userId });
      assert.deepEqual(listed.toSorted(), [...threads, ...fresh.map(({ id }) => id), first.id].toSorted());
    });

    it('each read their own thread, and none that they may not read', async () => {
      const { store } = world();
      const { organization, userId, threads } = await makeAcme();
      const other = await makeAcme();
      const large = newThread(userId, { prompt: 'x'.repeat(100_000) });
      await store.createThread(organization, large, by(large.userId));
      const reader = { userId };
      const found = await Promise.all([
        ...threads.map((id) => store.getThread(organization, id, reader)),
        store.getThread(organization, large.id, reader),
        store.getThread(organization, threads[0]!, { userId: null }),
        store.getThread(organization, other.threads[0]!, reader),
        store.getThread(other.organization, other.threads[0]!, { userId: other.userId }),
      ]);
      const ids = [...threads, large.id, undefined, undefined, other.threads[0]];
      assert.deepEqual(
        found.map((each) => each?.thread.id),
        ids,
      );
      assert.deepEqual(
        found.map((each) => each?.messages.map(({ threadId }) => threadId)),
        ids.map((id) => id && [id, id]),
      );
      assert.equal(found[4]!.messages[0]!.content, large.prompt);
    });

    it('each rename and delete as if they had arrived one after another', async () => {
      const { store } = world();
      const { organization, userId, threads } = await makeAcme();
      const [a, b, c, d] = threads as [ThreadId, ThreadId, ThreadId, ThreadId];
      const stranger = await world().member(organization);
      const renamedAtOnce = await Promise.all([
        store.renameThread(organization, a, 'first', by(userId)),
        store.renameThread(organization, b, 'never', by(stranger)),
        store.renameThread(organization, a, 'second', by(userId)),
        store.renameThread(organization, strangers.thread(), 'never', by(userId)),
        store.renameThread(organization, c, 'third', by(userId)),
      ]);
      const renamed = renamedAtOnce.map(granted);
      assert.deepEqual(
        renamed.map((each) => [each.outcome, 'thread' in each && each.thread.id]),
        [
          ['renamed', a],
          ['refused', b],
          ['renamed', a],
          ['missing', false],
          ['renamed', c],
        ],
      );
      assert.equal((await store.findThread(organization, a))?.title, 'second');
      const deletedAtOnce = await Promise.all([
        store.deleteThread(organization, a, noteBy(userId)),
        store.deleteThread(organization, a, noteBy(userId)),
        store.deleteThread(organization, b, noteBy(stranger)),
        store.deleteThread(organization, d, noteBy(userId)),
      ]);
      const deleted = deletedAtOnce.map(granted);
      assert.deepEqual(
        deleted.map(({ outcome }) => outcome),
        ['deleted', 'refused', 'refused', 'deleted'],
      );
      assert.deepEqual(await world().walk(organization, { userId }), [c, b]);
      const cancelled = deleted.map((each) => ('cancelled' in each ? each.cancelled.length : 0));
      assert.deepEqual(cancelled, [1, 0, 0, 1]);
    });
  });
}
