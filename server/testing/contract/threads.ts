import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  by,
  fakeHash,
  granted,
  newFollowUp,
  newRetry,
  newThread,
  note,
  noteBy,
  operator,
  strangers,
  type World,
} from './fixture.ts';

const everything = 'Z̷̡a\u0301lgo 🧶\u{10FFFF} \u2028 "\\ \t\r\n ﷽ null';

export function describeThreads(world: () => World): void {
  describe('threads', () => {
    it('returns exactly what was stored: texts to the last code point, times to the millisecond', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      clock.ms += 7;
      const made = newThread(userId, {
        title: everything,
        accountId: '',
        secondaryId: everything,
        prompt: everything.repeat(5000),
      });
      assert.deepEqual(await store.createThread(organizationId, made, by(made.userId)), {
        outcome: 'created',
        createdAt: clock.ms,
      });
      const createdAt = clock.ms;
      assert.deepEqual(await store.getThread(organizationId, made.id), {
        thread: {
          organizationId,
          id: made.id,
          userId,
          title: everything,
          accountId: '',
          secondaryId: everything,
          createdAt,
          updatedAt: null,
          published: false,
          deletedAt: null,
        },
        version: createdAt,
        messages: [
          { id: made.messageId, threadId: made.id, role: 'user', content: made.prompt, createdAt },
          {
            id: made.replyId,
            threadId: made.id,
            role: 'assistant',
            content: '',
            createdAt,
            status: 'in_progress',
            completedAt: null,
            steps: [],
            sources: null,
            model: null,
          },
        ],
      });
    });

    it('returns texts of any length and script unchanged', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const userId = await world().member(organizationId);
      for (const letter of ['a', 'é', '長', '🧶'])
        for (const bytes of [1_020, 1_024, 1_028, 300_000]) {
          const prompt = letter.repeat(bytes / Buffer.byteLength(letter));
          const { id } = await world().thread(organizationId, userId, { prompt });
          const [message] = await store.listMessages(organizationId, id, { skip: 0, limit: 1, bytesMax: 1 });
          assert.equal(message?.content, prompt);
        }
    });

    it('reads the head of a thread, and its messages part by part', async () => {
      const { store } = world();
      const organization = await world().organization();
      const { id, userId } = await world().thread(organization, await world().member(organization));
      for (const content of ['字'.repeat(100), 'b', 'c']) {
        await store.cancelReplies(organization, id, operator);
        const prompt = { messageId: strangers.message(), content };
        await store.addReply(organization, id, newFollowUp({ prompt }), by(userId));
      }
      const { thread, version, messages } = (await store.getThread(organization, id))!;
      assert.equal(messages.length, 8);
      const read = (skip: number, limit: number, bytesMax: number) =>
        store.listMessages(organization, id, { skip, limit, bytesMax });
      const details = { traceId: 'trace', failure: null, verdict: null };
      const detailed = messages.map((one) => (one.role === 'user' ? one : { ...one, details }));
      assert.deepEqual(await read(0, 100, 1_000_000), detailed);
      assert.deepEqual(await read(3, 2, 1_000_000), detailed.slice(3, 5));
      assert.deepEqual(await read(2, 100, 300), detailed.slice(2, 3), 'as many bytes as asked for');
      assert.deepEqual(await read(2, 100, 301), detailed.slice(2, 4), 'steps count, too');
      assert.deepEqual(await read(2, 100, 1), detailed.slice(2, 3), 'at least one');
      assert.deepEqual(await read(8, 100, 1_000_000), []);
      const whole = (bytesMax: number) => store.getThread(organization, id, { userId, bytesMax });
      assert.equal(await whole(300), undefined, 'more bytes than asked for');
      assert.deepEqual((await whole(1_000))?.messages, messages);
      const head = { thread, version, messageCount: 8, latest: detailed.at(-1) };
      assert.deepEqual(await store.getThreadHead(organization, id), head);
      assert.deepEqual(await store.findThread(organization, id), thread);
      await store.deleteThread(organization, id, noteBy(userId));
      const deleted = (await store.getThread(organization, id))!;
      assert.deepEqual(await store.findThread(organization, id), deleted.thread);
      assert.deepEqual((await store.getThreadHead(organization, id))?.thread, deleted.thread);
    });

    it('keeps no part of a thread that cannot be created, but all others created with it', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const { id, title } = await world().thread(organization, userId);
      const good = [newThread(userId), newThread(userId)];
      const bad = newThread(userId, { id, title: 'Another title' });
      const results = await Promise.allSettled(
        [good[0]!, bad, good[1]!].map((made) => store.createThread(organization, made, by(made.userId))),
      );
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal((await store.findThread(organization, id))?.title, title);
      assert.equal((await world().walk(organization, { userId })).length, 3);
    });

    it('returns threads to users who may read them only', async () => {
      const { store } = world();
      const organization = await world().organization();
      const [ada, ben] = [await world().member(organization), await world().member(organization)];
      const { id } = await world().thread(organization, ada);
      const readers = [{ userId: ada }, { userId: ben }, { userId: null }];
      const found = () =>
        Promise.all(
          readers.map(async (reader) => (await store.getThread(organization, id, reader))?.messages.length),
        );
      assert.deepEqual(await found(), [2, undefined, undefined]);
      await store.setThreadPublished(organization, id, true, note());
      assert.deepEqual(await found(), [2, 2, 2]);
      await store.deleteThread(organization, id, noteBy(ada));
      assert.deepEqual(await found(), [undefined, undefined, undefined]);
      assert.equal((await store.getThread(organization, id))?.messages.length, 2);
    });

    it('returns the same thread for a repeated idempotency key, and rejects it with another body', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const idempotency = { key: 'k', bodyHash: fakeHash(1), keepMs: 1000 };
      const first = newThread(userId, { idempotency });
      const created = granted(await store.createThread(organization, first, by(userId)));
      assert.equal(created.outcome, 'created');
      clock.ms += 999;
      assert.deepEqual(
        await store.createThread(organization, newThread(userId, { idempotency }), by(userId)),
        {
          outcome: 'repeated',
          threadId: first.id,
          messageId: first.messageId,
          replyId: first.replyId,
          createdAt: clock.ms - 999,
        },
      );
      const otherBody = newThread(userId, { idempotency: { ...idempotency, bodyHash: fakeHash(2) } });
      assert.deepEqual(await store.createThread(organization, otherBody, by(otherBody.userId)), {
        outcome: 'key-reused',
      });
      assert.deepEqual(await world().walk(organization, { userId }), [first.id]);
    });

    it('creates one thread for concurrent creates with one idempotency key on two nodes', async () => {
      const organization = await world().organization();
      const userId = await world().member(organization);
      const nodes = [world().store, await world().node()];
      const idempotency = { key: 'k', bodyHash: fakeHash(1), keepMs: 1000 };
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          nodes[index % 2]!.createThread(organization, newThread(userId, { idempotency }), by(userId)),
        ),
      );
      assert.equal(results.filter((result) => granted(result).outcome === 'created').length, 1);
      assert.equal((await world().walk(organization, { userId })).length, 1);
    });

    it('keeps an idempotency key for its time, per user and organization', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const idempotency = { key: 'k', bodyHash: fakeHash(1), keepMs: 1000 };
      const outcome = async (userId: typeof ada) =>
        granted(await store.createThread(organization, newThread(userId, { idempotency }), by(userId)))
          .outcome;
      assert.equal(await outcome(ada), 'created');
      assert.equal(await outcome(bob), 'created');
      clock.ms += 1000;
      assert.equal(await outcome(ada), 'created');
      assert.equal(await outcome(ada), 'repeated');
    });

    it('renames for the creator only', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const { id } = await world().thread(organization, ada);
      clock.ms += 5;
      const refused = granted(await store.renameThread(organization, id, 'Mine', by(bob)));
      assert.equal(refused.outcome, 'refused');
      assert.equal((await store.getThread(organization, id))?.thread.title, 'A title');
      const renamed = granted(await store.renameThread(organization, id, 'Mine', by(ada)));
      assert.equal(renamed.outcome, 'renamed');
      const after = (await store.getThread(organization, id))?.thread;
      assert.deepEqual(renamed.outcome === 'renamed' && renamed.thread, after);
      assert.equal(after?.title, 'Mine');
      assert.ok((after?.updatedAt ?? 0) >= clock.ms);
      assert.deepEqual(await store.renameThread(organization, strangers.thread(), 'x', by(ada)), {
        outcome: 'missing',
      });
    });

    it('deletes once, for the creator only, and cancels the reply in the same commit', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const { id, replyId } = await world().thread(organization, ada);
      assert.equal(granted(await store.deleteThread(organization, id, noteBy(bob))).outcome, 'refused');
      assert.equal((await store.getThread(organization, id))?.thread.deletedAt, null);
      assert.deepEqual(await store.deleteThread(organization, id, noteBy(ada)), {
        outcome: 'deleted',
        cancelled: [replyId],
      });
      const kept = await store.getThread(organization, id);
      assert.equal(kept?.thread.deletedAt, clock.ms);
      const reply = kept?.messages[1];
      assert.equal(reply?.role === 'assistant' && reply.status, 'cancelled');
      assert.equal(reply?.role === 'assistant' && reply.completedAt, clock.ms);
      assert.equal(granted(await store.deleteThread(organization, id, noteBy(ada))).outcome, 'refused');
      assert.equal(granted(await store.renameThread(organization, id, 'x', by(ada))).outcome, 'refused');
      assert.equal(await store.setThreadPublished(organization, id, true, note()), 'missing');
      assert.deepEqual(await store.deleteThread(organization, strangers.thread(), noteBy(ada)), {
        outcome: 'missing',
      });
    });

    it('restores a thread within the given time, for its creator only, with everything else unchanged', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const { id } = await world().thread(organization, ada, { accountId: 'a' });
      const newer = await world().thread(organization, ada);
      const restore = (userId: typeof ada) => store.restoreThread(organization, id, 1000, noteBy(userId));
      assert.equal(await restore(ada), 'missing');
      await store.deleteThread(organization, id, noteBy(ada));
      const deleted = await store.getThread(organization, id);
      clock.pass(1000);
      assert.equal(await restore(bob), 'missing');
      assert.deepEqual(await store.getThread(organization, id), deleted);
      assert.equal(await restore(ada), 'restored');
      assert.deepEqual(await store.getThread(organization, id), {
        thread: { ...deleted?.thread, deletedAt: null },
        version: clock.ms,
        messages: deleted?.messages,
      });
      assert.deepEqual(await world().walk(organization, { userId: ada }), [newer.id, id]);
      assert.equal(await restore(ada), 'missing');

      await store.deleteThread(organization, id, noteBy(ada));
      clock.pass(1001);
      assert.equal(await restore(ada), 'missing');
      assert.deepEqual(await world().walk(organization, { userId: ada }), [newer.id]);
      assert.equal(await store.restoreThread(organization, strangers.thread(), 1000, noteBy(ada)), 'missing');
    });

    it('renames, publishes and retries in a restored thread', async () => {
      const { store } = world();
      const organization = await world().organization();
      const ada = await world().member(organization);
      const { id, replyId } = await world().thread(organization, ada);
      assert.deepEqual(await store.deleteThread(organization, id, noteBy(ada)), {
        outcome: 'deleted',
        cancelled: [replyId],
      });
      assert.equal(await store.restoreThread(organization, id, 1000, noteBy(ada)), 'restored');
      assert.equal(granted(await store.renameThread(organization, id, 'Back', by(ada))).outcome, 'renamed');
      assert.equal(await store.setThreadPublished(organization, id, true, note()), 'done');
      const retry = newRetry();
      assert.deepEqual(await store.addReply(organization, id, retry, by(ada)), { outcome: 'added' });
      assert.deepEqual(await store.deleteThread(organization, id, noteBy(ada)), {
        outcome: 'deleted',
        cancelled: [retry.replyId],
      });
    });

    it('writes an audit note of each change of who sees a thread, in the same commit', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const { id } = await world().thread(organization, ada);
      const noted = async () => {
        const events = (await store.listAudit(organization, { limit: 100 })).events;
        return events.filter(({ subject }) => subject === id).map(({ action, at }) => [action, at]);
      };
      const published = () => note('thread.published', id);
      const written: unknown[] = [];
      const expect = async (action: string) => {
        written.unshift([action, clock.ms]);
        assert.deepEqual(await noted(), written);
        clock.pass(1);
      };
      await store.setThreadPublished(organization, id, false, published());
      await store.setThreadPublished(organization, strangers.thread(), true, published());
      await store.restoreThread(organization, id, 1000, note('thread.restored', id, { authority: by(ada) }));
      await store.deleteThread(organization, id, note('thread.deleted', id, { authority: by(bob) }));
      assert.deepEqual(await noted(), []);
      await store.setThreadPublished(organization, id, true, published());
      await expect('thread.published');
      await store.setThreadPublished(organization, id, true, published());
      await store.deleteThread(organization, id, note('thread.deleted', id, { authority: by(ada) }));
      await expect('thread.deleted');
      await store.deleteThread(organization, id, note('thread.deleted', id, { authority: by(ada) }));
      await store.setThreadPublished(organization, id, false, published());
      await store.restoreThread(organization, id, 1000, note('thread.restored', id, { authority: by(bob) }));
      await store.restoreThread(organization, id, 1000, note('thread.restored', id, { authority: by(ada) }));
      await expect('thread.restored');
    });

    it('lists the accounts of threads that a user may read, by prefix, in order', async () => {
      const { store } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const list = (prefix: string, limit = 100) => store.listAccounts(organization, ada, prefix, limit);
      assert.deepEqual(await list(''), []);
      for (const accountId of ['acme', null, 'acme_2', 'acme%', 'beta', 'ACME', 'äöü', '=', 'acme'])
        await world().thread(organization, ada, { accountId });
      const hidden = await world().thread(organization, bob, { accountId: 'acme-of-bob' });
      const shared = await world().thread(organization, bob, { accountId: 'beta' });
      await store.setThreadPublished(organization, shared.id, true, note());
      const all = ['=', 'ACME', 'acme', 'acme%', 'acme_2', 'beta', 'äöü'];
      assert.deepEqual(await list(''), all);
      assert.deepEqual(await list('', 3), all.slice(0, 3));
      assert.deepEqual(await list('acme'), ['acme', 'acme%', 'acme_2']);
      assert.deepEqual(await list('acme_'), ['acme_2']);
      assert.deepEqual(await list('acme%'), ['acme%']);
      assert.deepEqual(await list('ä'), ['äöü']);
      assert.deepEqual(await list('nothing'), []);

      await store.setThreadPublished(organization, hidden.id, true, note());
      assert.deepEqual(await list('acme-'), ['acme-of-bob']);
      await store.deleteThread(organization, hidden.id, noteBy(bob));
      assert.deepEqual(await list('acme-'), []);
      await store.restoreThread(organization, hidden.id, 1000, noteBy(bob));
      assert.deepEqual(await list('acme-'), ['acme-of-bob']);
      const empty = await world().thread(organization, ada, { accountId: '' });
      assert.deepEqual(await list('', 1), ['']);
      await store.deleteThread(organization, empty.id, noteBy(ada));
      assert.deepEqual(await list('', 1), ['=']);
    });

    it('publishes and unpublishes without changing the activity', async () => {
      const { store } = world();
      const organization = await world().organization();
      const { id } = await world().thread(organization, await world().member(organization));
      for (const published of [true, true, false, false]) {
        assert.equal(await store.setThreadPublished(organization, id, published, note()), 'done');
        const thread = (await store.getThread(organization, id))?.thread;
        assert.equal(thread?.published, published);
        assert.equal(thread?.updatedAt, null);
      }
      assert.equal(await store.setThreadPublished(organization, strangers.thread(), true, note()), 'missing');
    });
  });
}
