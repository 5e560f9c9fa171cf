import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId, ThreadId, UserId } from '../../src/domain/id.ts';
import { deriveThreadStatus } from '../../src/domain/message.ts';
import type {
  IndexedThread,
  NewThread,
  Store,
  ThreadQuery,
  UnindexedThread,
} from '../../src/storage/port/store.ts';
import { by, newFollowUp, note, noteBy, operator, type World } from './fixture.ts';
import { done, leaseMs } from './reply-fixture.ts';

async function createEntry(store: Store, due: UnindexedThread): Promise<IndexedThread | undefined> {
  const head = await store.getThreadHead(due.organizationId, due.threadId);
  if (head === undefined || head.thread.deletedAt !== null) return undefined;
  const all = { skip: 0, limit: 100, bytesMax: 1_000_000 };
  const messages = await store.listMessages(due.organizationId, due.threadId, all);
  const words = [head.thread.title, ...messages.map(({ content }) => content)].join(' ').toLowerCase();
  return {
    thread: head.thread,
    version: head.version,
    state: deriveThreadStatus([head.latest]).state,
    line: head.latest.content,
    terms: [...new Set(words.match(/[\p{L}\p{N}]+/gu))],
  };
}

/** Indexes everything that is due, as the service does. Returns how many threads that were. */
export async function indexAll(store: Store): Promise<number> {
  const due = await store.takeUnindexed(1000);
  const threads = await Promise.all(
    due.map(async (each) => ({ due: each, entry: await createEntry(store, each) })),
  );
  if (threads.length > 0) await store.indexThreads(threads);
  return threads.length;
}

export function describeThreadSearch(world: () => World): void {
  async function home() {
    const organizationId = await world().organization();
    const userId = await world().member(organizationId, 'ada@example.org');
    return { organizationId, userId };
  }
  async function search(
    organizationId: OrganizationId,
    userId: UserId,
    words: string,
    change: Partial<ThreadQuery> = {},
  ): Promise<ThreadId[]> {
    const query = { userId, terms: words.split(' ').filter(Boolean), ...change };
    const found = await world().store.searchThreads(organizationId, query, 100);
    return found.map(({ thread }) => thread.id);
  }
  const add = (
    organizationId: OrganizationId,
    userId: UserId,
    title: string,
    change: Partial<NewThread> = {},
  ) => world().thread(organizationId, userId, { title, ...change });

  describe('a search', () => {
    it('finds threads that contain every word in the title or a message, most recent activity first', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const first = await add(organizationId, userId, 'Refund of silk');
      world().clock.pass(10);
      const second = await add(organizationId, userId, 'Returns', {
        prompt: 'When is a refund paid for silk?',
      });
      world().clock.pass(10);
      const third = await add(organizationId, userId, 'Refund of wool');
      assert.equal(await indexAll(store), 3);
      assert.deepEqual(await search(organizationId, userId, 'refund'), [third.id, second.id, first.id]);
      assert.deepEqual(await search(organizationId, userId, 'silk refund'), [second.id, first.id]);
      assert.deepEqual(await search(organizationId, userId, 'refund linen'), []);
      await store.renameThread(organizationId, first.id, 'Refund of linen', by(userId));
      await indexAll(store);
      assert.deepEqual(await search(organizationId, userId, 'refund'), [first.id, third.id, second.id]);
      assert.deepEqual(await search(organizationId, userId, 'refund linen'), [first.id]);
      assert.deepEqual(await search(organizationId, userId, 'silk'), [second.id]);
    });

    it('finds a last word that is not finished', async () => {
      const { organizationId, userId } = await home();
      const thread = await add(organizationId, userId, 'Refund policy');
      await indexAll(world().store);
      const last = (term: string) => ({ last: { term, prefix: term } });
      assert.deepEqual(await search(organizationId, userId, 'refund', last('pol')), [thread.id]);
      assert.deepEqual(await search(organizationId, userId, '', last('ref')), [thread.id]);
      assert.deepEqual(await search(organizationId, userId, 'policy', last('polite')), []);
      assert.deepEqual(await search(organizationId, userId, 'ref'), []);
    });

    it('continues after a found thread, even among threads of the same millisecond', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      for (let count = 0; count < 7; count += 1) await add(organizationId, userId, 'Refund');
      await indexAll(store);
      const all = await search(organizationId, userId, 'refund');
      assert.equal(new Set(all).size, 7);
      const walked: ThreadId[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.searchThreads(organizationId, { userId, terms: ['refund'] }, 3, after);
        walked.push(...page.map(({ thread }) => thread.id));
        if (page.length < 3) break;
        after = page.at(-1)?.place;
      }
      assert.deepEqual(walked, all);
    });

    it('shows only threads that the person may read now, whatever the index says', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const other = await world().member(organizationId);
      const foreign = await world().organization();
      const abroad = await world().member(foreign);
      const own = await add(organizationId, userId, 'Refund');
      const hidden = await add(organizationId, other, 'Refund');
      const shared = await add(organizationId, other, 'Refund');
      const theirs = await add(foreign, abroad, 'Refund');
      await store.setThreadPublished(organizationId, shared.id, true, note());
      await store.setThreadPublished(foreign, theirs.id, true, note());
      await indexAll(store);
      const sorted = async (who: UserId, change: Partial<ThreadQuery> = {}) =>
        (await search(organizationId, who, 'refund', change)).sort();
      assert.deepEqual(await sorted(userId), [own.id, shared.id].sort());
      assert.deepEqual(await sorted(userId, { scope: 'mine' }), [own.id]);
      assert.deepEqual(await sorted(userId, { scope: 'published' }), [shared.id]);
      assert.deepEqual(await sorted(other), [hidden.id, shared.id].sort());
      assert.deepEqual(await search(foreign, userId, 'refund'), [theirs.id]);
      assert.deepEqual(await search(foreign, userId, 'refund', { scope: 'mine' }), []);

      // Not indexed again yet.
      await store.setThreadPublished(organizationId, shared.id, false, note());
      await store.deleteThread(organizationId, own.id, noteBy(userId));
      assert.deepEqual(await sorted(userId), []);
      assert.deepEqual(await sorted(other), [hidden.id, shared.id].sort());
      await store.restoreThread(organizationId, own.id, 1000, noteBy(userId));
      assert.deepEqual(await sorted(userId), [own.id]);
    });

    it('fills a page although the first matches were deleted a moment ago', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const threads: NewThread[] = [];
      for (let count = 0; count < 6; count += 1) threads.push(await add(organizationId, userId, 'Refund'));
      await indexAll(store);
      const all = await search(organizationId, userId, 'refund');
      for (const id of all.slice(0, 3)) await store.deleteThread(organizationId, id, noteBy(userId));
      const page = await store.searchThreads(organizationId, { userId, terms: ['refund'] }, 2);
      assert.deepEqual(
        page.map(({ thread }) => thread.id),
        all.slice(3, 5),
      );
      assert.equal(threads.length, 6);
    });

    it('filters by account, state and the earliest activity, with or without words', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const old = await add(organizationId, userId, 'Refund', { accountId: 'acme eu' });
      await world()
        .claim(leaseMs)
        .then(([claim]) => store.settleReply(claim!, { status: 'failed', ...done }));
      world().clock.pass(1000);
      const since = world().clock.ms;
      const recent = await add(organizationId, userId, 'Refund', { accountId: 'acme' });
      await indexAll(store);
      const found = (change: Partial<ThreadQuery>, words = '') =>
        search(organizationId, userId, words, change);
      assert.deepEqual(await found({ accountId: 'acme eu' }), [old.id]);
      assert.deepEqual(await found({ accountId: 'acme eu' }, 'refund'), [old.id]);
      assert.deepEqual(await found({ accountId: 'ACME' }), []);
      assert.deepEqual(await found({ state: 'error' }), [old.id]);
      assert.deepEqual(await found({ state: 'in_progress' }), [recent.id]);
      assert.deepEqual(await found({ state: 'idle' }), []);
      assert.deepEqual(await found({ since }), [recent.id]);
      assert.deepEqual(await found({ since, state: 'error' }), []);
      assert.deepEqual(await found({}), [recent.id, old.id]);
    });
  });

  describe('the index of threads', () => {
    it('is due for every change that a search or a list shows, and not for the progress of a reply', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const { id } = await add(organizationId, userId, 'Refund');
      const assertDue = async (change: string) => assert.equal(await indexAll(store), 1, change);
      await assertDue('created');
      assert.equal(await indexAll(store), 0);
      const [claim] = await world().claim(leaseMs);
      const progress = { status: 'in_progress', content: 'Half', steps: [] } as const;
      assert.ok(await store.recordReplyProgress(claim!, progress));
      assert.equal(await indexAll(store), 0);
      await store.settleReply(claim!, { status: 'completed', ...done });
      await assertDue('replied');
      await store.renameThread(organizationId, id, 'Money back', by(userId));
      await assertDue('renamed');
      await store.setThreadPublished(organizationId, id, true, note());
      await assertDue('published');
      await store.addReply(organizationId, id, newFollowUp(), by(userId));
      await assertDue('asked again');
      await store.cancelReplies(organizationId, id, operator);
      await assertDue('cancelled');
      await store.deleteThread(organizationId, id, noteBy(userId));
      await assertDue('deleted');
      await store.restoreThread(organizationId, id, 1000, noteBy(userId));
      await assertDue('restored');
      assert.deepEqual(await search(organizationId, userId, 'money'), [id]);
    });

    it('stays due if the thread changes while it is being indexed, and keeps the newer words', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const { id } = await add(organizationId, userId, 'Refund');
      const [due] = await store.takeUnindexed(10);
      const entry = await createEntry(store, due!);
      await store.renameThread(organizationId, id, 'Money', by(userId));
      const [newer] = await store.takeUnindexed(10);
      await store.indexThreads([{ due: newer!, entry: await createEntry(store, newer!) }]);
      await store.indexThreads([{ due: due!, entry }]);
      assert.deepEqual(await search(organizationId, userId, 'money'), [id]);
      assert.deepEqual(await search(organizationId, userId, 'refund'), []);
      await store.renameThread(organizationId, id, 'Cash', by(userId));
      await store.indexThreads([{ due: newer!, entry: await createEntry(store, newer!) }]);
      assert.equal(await indexAll(store), 1, 'an older stamp does not take back the mark');
    });

    it('takes the threads of organizations in turn, although those of one change all the time', async () => {
      const { store } = world();
      const [busy, quiet] = [await home(), await home()].sort((one, other) =>
        one.organizationId < other.organizationId ? -1 : 1,
      ) as [Awaited<ReturnType<typeof home>>, Awaited<ReturnType<typeof home>>];
      for (const title of ['One', 'Two', 'Three']) await add(busy.organizationId, busy.userId, title);
      await add(quiet.organizationId, quiet.userId, 'Refund');
      const takeAndChange = async () => {
        const due = await store.takeUnindexed(2);
        await store.indexThreads(
          await Promise.all(due.map(async (each) => ({ due: each, entry: await createEntry(store, each) }))),
        );
        for (const { organizationId, threadId } of due)
          if (organizationId === busy.organizationId)
            await store.renameThread(organizationId, threadId, 'Changed', by(busy.userId));
        return due.map(({ organizationId }) => organizationId);
      };
      assert.deepEqual(await takeAndChange(), [busy.organizationId, busy.organizationId]);
      assert.deepEqual(await takeAndChange(), [quiet.organizationId]);
      assert.deepEqual(await takeAndChange(), [busy.organizationId, busy.organizationId]);
    });

    it('forgets a thread that is removed for good', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const { id } = await add(organizationId, userId, 'Refund');
      await indexAll(store);
      const kept = await add(organizationId, userId, 'Refund');
      const due = await store.takeUnindexed(10);
      const entry = await createEntry(store, due[0]!);
      for (const each of [id, kept.id]) await store.deleteThread(organizationId, each, noteBy(userId));
      world().clock.pass(1000);
      assert.equal((await world().removeAll('deleted_threads', 0)).removed, 2);
      assert.deepEqual(await store.takeUnindexed(10), []);
      // A node that had read it before it was removed.
      await store.indexThreads([{ due: due[0]!, entry }]);
      assert.deepEqual(await search(organizationId, userId, 'refund'), []);
      assert.deepEqual(await store.summarizeThreads(organizationId, [id, kept.id]), []);
    });

    it('accepts as many words, and as long ones, as a thread can have', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const { id } = await add(organizationId, userId, 'Refund');
      await store.setThreadPublished(organizationId, id, true, note());
      const [due] = await store.takeUnindexed(10);
      const entry = await createEntry(store, due!);
      const long = Array.from({ length: 20_000 }, (_, place) => `${'𝒷'.repeat(30)}${place}`);
      await store.indexThreads([{ due: due!, entry: { ...entry!, terms: [...entry!.terms, ...long] } }]);
      assert.deepEqual(await search(organizationId, userId, `refund ${long[0]}`), [id]);
    });
  });

  describe('a summary of threads', () => {
    it('has the state of the latest reply, the author, and the beginning of the reply', async () => {
      const { store } = world();
      const { organizationId, userId } = await home();
      const { id } = await add(organizationId, userId, 'Refund');
      const summary = async () => (await store.summarizeThreads(organizationId, [id]))[0];
      const author = 'ada@example.org';
      assert.deepEqual(await summary(), { id, state: 'in_progress', author, line: '' });
      await world()
        .claim(leaseMs)
        .then(([claim]) => store.settleReply(claim!, { status: 'failed', ...done }));
      assert.equal((await summary())?.state, 'error', 'also before it is indexed');
      await indexAll(store);
      assert.deepEqual(await summary(), { id, state: 'error', author, line: 'Because.' });
      await store.addReply(organizationId, id, newFollowUp(), by(userId));
      assert.equal((await summary())?.state, 'in_progress');
      await store.cancelReplies(organizationId, id, operator);
      assert.equal((await summary())?.state, 'idle');
      await store.removeMember(organizationId, author, false, note());
      assert.equal((await summary())?.author, null);
      assert.deepEqual(await store.summarizeThreads(await world().organization(), [id]), []);
    });
  });
}
