import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageId, ThreadId } from '../../src/domain/id.ts';
import { type AssistantMessage, deriveThreadStatus } from '../../src/domain/message.ts';
import { failureReasons } from '../../src/domain/reply.ts';
import type { NewReply, Store } from '../../src/storage/port/store.ts';
import { email } from './account-fixture.ts';
import {
  by,
  type Conversation,
  completed,
  fakeHash,
  granted,
  newFollowUp,
  newRetry,
  note,
  noteBy,
  operator,
  strangers,
  type World,
} from './fixture.ts';

const leaseMs = 1000;

export function describeFollowUps(world: () => World): void {
  describe('follow-ups', () => {
    async function conversation(): Promise<Conversation> {
      const organization = await world().organization();
      const thread = await world().thread(organization, await world().member(organization), {
        accountId: 'a',
      });
      return { organization, thread };
    }
    async function answered(): Promise<Conversation> {
      const made = await conversation();
      const [claim] = await world().claim(leaseMs);
      assert.equal(await world().store.settleReply(claim!, completed), true);
      return made;
    }
    async function stopped(): Promise<Conversation> {
      const made = await conversation();
      assert.equal(
        (await world().store.cancelReplies(made.organization, made.thread.id, operator)).length,
        1,
      );
      return made;
    }
    const add = async (
      { organization, thread }: Conversation,
      reply: NewReply,
      store: Store = world().store,
    ) => granted(await store.addReply(organization, thread.id, reply, by(thread.userId))).outcome;
    async function read({ organization, thread }: Conversation) {
      const found = await world().store.getThread(organization, thread.id);
      assert.ok(found);
      return found;
    }
    const idsOfMessages = async (made: Conversation) => (await read(made)).messages.map(({ id }) => id);

    it('append a prompt and its reply, and count as activity', async () => {
      const { clock } = world();
      const made = await answered();
      const before = await read(made);
      clock.pass(5);
      const reply = newFollowUp({ prompt: { messageId: strangers.message(), content: 'And why? 🧶' } });
      assert.equal(await add(made, reply), 'added');
      const { thread, messages } = await read(made);
      assert.deepEqual(thread, { ...before.thread, updatedAt: clock.ms });
      const common = { threadId: thread.id, createdAt: clock.ms };
      assert.deepEqual(messages, [
        ...before.messages,
        { ...common, id: reply.prompt?.messageId, role: 'user', content: 'And why? 🧶' },
        {
          ...common,
          id: reply.replyId,
          role: 'assistant',
          content: '',
          status: 'in_progress',
          completedAt: null,
          steps: [],
          sources: null,
          model: null,
        },
      ]);
    });

    it('move their thread to the top, even within one millisecond', async () => {
      const made = await answered();
      const { userId } = made.thread;
      await world().thread(made.organization, userId);
      const newest = await world().thread(made.organization, userId);
      assert.equal((await world().walk(made.organization, { userId }))[0], newest.id);
      assert.equal(await add(made, newFollowUp()), 'added');
      assert.equal((await world().walk(made.organization, { userId }))[0], made.thread.id);
    });

    it('are claimed, written and failed at their deadline like first replies', async () => {
      const { store, clock } = world();
      const made = await answered();
      const written = newFollowUp({ traceId: 'second' });
      clock.pass(1);
      assert.equal(await add(made, written), 'added');
      clock.pass(100);
      const [claim, ...others] = await world().claim(leaseMs);
      assert.equal(others.length, 0);
      assert.deepEqual(
        [claim?.messageId, claim?.traceId, claim?.accountId, claim?.attempts, claim?.remainingMs],
        [written.replyId, 'second', 'a', 0, written.replyDeadlineMs - 100],
      );
      assert.equal(await store.settleReply(claim!, completed), true);
      assert.equal(((await read(made)).messages.at(-1) as AssistantMessage).status, 'completed');

      const late = newFollowUp({ replyDeadlineMs: 5000, traceId: 'third' });
      clock.pass(1);
      assert.equal(await add(made, late), 'added');
      clock.pass(4999);
      assert.deepEqual(await world().sweep(), []);
      clock.pass(1);
      assert.deepEqual(await world().sweep(), [
        {
          organizationId: made.organization,
          threadId: made.thread.id,
          messageId: late.replyId,
          traceId: 'third',
          failure: failureReasons.overdue,
        },
      ]);
      assert.equal(((await read(made)).messages.at(-1) as AssistantMessage).status, 'failed');
    });

    it('stay in the order of creation, whatever the clocks of the nodes that created their ids', async () => {
      const { store, clock } = world();
      const made = await stopped();
      const { organization, thread } = made;
      // A node whose clock is behind makes ids below the existing ones.
      const early = (place: number) => `msg_0000000000000000000000000${place}` as MessageId;
      clock.ms -= 3_600_000;
      const second = newFollowUp({ prompt: { messageId: early(5), content: '2' }, replyId: early(6) });
      assert.equal(await add(made, second), 'added');
      await store.cancelReplies(organization, thread.id, operator);
      assert.equal(await add(made, newRetry({ replyId: early(3) }), await world().node()), 'added');
      await store.cancelReplies(organization, thread.id, operator);
      const third = newFollowUp({ prompt: { messageId: early(1), content: '3' }, replyId: early(2) });
      assert.equal(await add(made, third), 'added');

      const order = [thread.messageId, thread.replyId, early(5), early(6), early(3), early(1), early(2)];
      const { messages } = await read(made);
      assert.deepEqual(
        messages.map(({ id }) => id),
        order,
      );
      const part = { skip: 0, limit: 9, bytesMax: 9999 };
      const listed = await store.listMessages(organization, thread.id, part);
      assert.deepEqual(
        listed.map(({ id }) => id),
        order,
      );
      assert.equal(deriveThreadStatus(messages).activeMessageId, early(2));
      const times = messages.map(({ createdAt }) => createdAt);
      assert.deepEqual(
        times.map((time, index) => index === 0 || time - times[index - 1]! > 0),
        [true, false, true, false, true, true, false],
      );
      assert.equal(await add(made, newRetry()), 'running');
    });

    it('are rejected while a reply is running, even while a worker writes it', async () => {
      const made = await conversation();
      assert.equal(await add(made, newFollowUp()), 'running');
      assert.equal(await add(made, newRetry()), 'running');
      assert.equal((await world().claim(leaseMs)).length, 1);
      assert.equal(await add(made, newFollowUp()), 'running');
      assert.equal((await read(made)).thread.updatedAt, null);
      assert.deepEqual(await idsOfMessages(made), [made.thread.messageId, made.thread.replyId]);
    });

    for (const [what, newReply] of [
      ['prompts', newFollowUp],
      ['tries', newRetry],
    ] as const) {
      it(`are added one at a time: of ${what} that arrive concurrently on two nodes, one is added`, async () => {
        const nodes = [world().store, await world().node()];
        const made = await stopped();
        for (let round = 1; round <= 5; round += 1) {
          const creates = [0, 1].map(() => world().thread(made.organization, made.thread.userId));
          const outcomes = await Promise.all(
            Array.from({ length: 8 }, (_, index) => add(made, newReply(), nodes[index % 2]!)),
          );
          await Promise.all(creates);
          assert.deepEqual(outcomes.sort(), ['added', ...Array(7).fill('running')]);
          const running = (await read(made)).messages.filter(
            (message) => message.role === 'assistant' && message.completedAt === null,
          );
          assert.equal(running.length, 1, `round ${round}`);
          await world().store.cancelReplies(made.organization, made.thread.id, operator);
        }
      });
    }

    it('never run in a thread that is deleted at the same time', async () => {
      const nodes = [world().store, await world().node()] as const;
      let added = 0;
      for (let round = 0; round < 20; round += 1) {
        const made = await stopped();
        const { organization, thread } = made;
        // Concurrent calls wait here, and act on the state that they find afterwards.
        const creates = [0, 1, 2, 3].map(() => world().thread(organization, thread.userId));
        const adding = add(made, round % 2 === 0 ? newFollowUp() : newRetry(), nodes[0]);
        const deleted = granted(await nodes[1].deleteThread(organization, thread.id, noteBy(thread.userId)));
        const outcome = await adding;
        await Promise.all(creates);
        assert.ok(outcome === 'added' || outcome === 'missing', outcome);
        if (outcome === 'added') added += 1;
        assert.equal(deleted.outcome, 'deleted');
        assert.equal(deleted.outcome === 'deleted' && deleted.cancelled.length, outcome === 'added' ? 1 : 0);
        assert.equal(deriveThreadStatus((await read(made)).messages).state, 'idle');
      }
      assert.ok(added > 0, 'some were added before the deletion');
    });

    it('retry a reply without activity', async () => {
      const { store, clock } = world();
      const made = await conversation();
      const { organization, thread } = made;
      const newer = await world().thread(organization, thread.userId);
      const [claim] = (await world().claim(leaseMs)).filter(({ threadId }) => threadId === thread.id);
      await store.settleReply(claim!, { ...completed, status: 'failed', failure: 'no' });
      clock.pass(5);
      const [first, second] = [newRetry(), newRetry()];
      assert.equal(await add(made, first), 'added');
      await store.cancelReplies(organization, thread.id, operator);
      assert.equal(await add(made, second), 'added');
      assert.deepEqual(await idsOfMessages(made), [
        thread.messageId,
        thread.replyId,
        first.replyId,
        second.replyId,
      ]);
      assert.equal((await read(made)).thread.updatedAt, null);
      const listed = await world().walk(organization, { userId: thread.userId });
      assert.deepEqual(listed, [newer.id, thread.id]);

      const [again] = await world().claim(leaseMs);
      assert.equal(again?.messageId, second.replyId);
    });

    it("are rejected above the thread's limit of messages", async () => {
      const made = await stopped();
      const { organization, thread } = made;
      const { store } = world();
      const budget = { messagesMax: 5, bytesMax: 1000 };
      assert.equal(await add(made, newFollowUp({ budget })), 'added');
      assert.equal(await add(made, newFollowUp({ budget })), 'running');
      await store.cancelReplies(organization, thread.id, operator);
      const before = await read(made);
      const full = { outcome: 'full', exceeded: 'messages' };
      const addAny = (reply: NewReply) => store.addReply(organization, thread.id, reply, by(thread.userId));
      assert.deepEqual(await addAny(newFollowUp({ budget })), full);
      assert.deepEqual(await read(made), before);
      assert.equal(await add(made, newRetry({ budget })), 'added');
      await store.cancelReplies(organization, thread.id, operator);
      assert.deepEqual(await addAny(newRetry({ budget })), full);
      assert.equal(await add(made, newFollowUp({ budget: { ...budget, messagesMax: 7 } })), 'added');
    });

    it("are rejected above the thread's limit of bytes", async () => {
      const { store } = world();
      const organization = await world().organization();
      const prompt = 'é'.repeat(10);
      const thread = await world().thread(organization, await world().member(organization), { prompt });
      const made = { organization, thread };
      const [claim] = await world().claim(leaseMs);
      const [steps, sources] = [[{ description: 'ß' }], [{ id: 'd', title: '', url: null, snippet: '' }]];
      const verdict = { statements: 1, found: 0, checked: [{ start: 0, end: 2, sources: [] }] };
      const written = { content: '🧶', steps, sources, verdict };
      await store.settleReply(claim!, { ...completed, status: 'failed', ...written });
      const kept = [steps, sources, verdict].map((one) => JSON.stringify(one)).join('');
      const stored = 20 + 4 + Buffer.byteLength(kept);
      const asked = { messageId: strangers.message(), content: 'ü' };
      const followUp = (bytesMax: number) =>
        newFollowUp({ prompt: asked, budget: { messagesMax: 100, bytesMax } });
      const addAny = (reply: NewReply) => store.addReply(organization, thread.id, reply, by(thread.userId));
      const full = { outcome: 'full', exceeded: 'bytes' };
      assert.deepEqual(await addAny(followUp(stored + 1)), full);
      assert.deepEqual(await addAny(newRetry({ budget: { messagesMax: 100, bytesMax: stored - 1 } })), full);
      assert.equal((await read(made)).messages.length, 2);
      assert.equal(await add(made, followUp(stored + 2)), 'added');
    });

    it('never exceed the budget when many are added, cancelled and retried concurrently on two nodes', async () => {
      const nodes = [world().store, await world().node()] as const;
      const made = await stopped();
      const { organization, thread } = made;
      const budget = { messagesMax: 12, bytesMax: 100_000 };
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, async (_, place) => {
          const node = nodes[place % 2]!;
          const seen: string[] = [];
          while (!seen.includes('full')) {
            seen.push(await add(made, (place % 3 === 0 ? newRetry : newFollowUp)({ budget }), node));
            await node.cancelReplies(organization, thread.id, operator);
          }
          return seen;
        }),
      );
      const { messages } = await read(made);
      assert.ok(messages.length === 11 || messages.length === 12, `${messages.length} messages`);
      const added = outcomes.flat().filter((outcome) => outcome === 'added').length;
      const prompts = messages.filter(({ role }) => role === 'user').length - 1;
      assert.equal(messages.length, 2 + added + prompts);
    });

    it('are accepted from the creator only, in an existing thread', async () => {
      const { store } = world();
      const made = await stopped();
      const { organization, thread } = made;
      const bob = await world().member(organization);
      await store.setThreadPublished(organization, thread.id, true, note());
      const before = await read(made);
      const addAs = (userId: typeof bob, id: ThreadId = thread.id, reply = newFollowUp()) =>
        store.addReply(organization, id, reply, by(userId));
      assert.deepEqual(await addAs(bob), { outcome: 'refused', thread: before.thread });
      assert.deepEqual(await addAs(bob, thread.id, newRetry()), {
        outcome: 'refused',
        thread: before.thread,
      });
      assert.deepEqual(await addAs(thread.userId, strangers.thread()), { outcome: 'missing' });
      assert.deepEqual(await read(made), before);
      await store.deleteThread(organization, thread.id, noteBy(thread.userId));
      const deleted = await read(made);
      for (const userId of [thread.userId, bob]) {
        assert.deepEqual(await addAs(userId), { outcome: 'missing' });
        assert.deepEqual(await addAs(userId, thread.id, newRetry()), { outcome: 'missing' });
      }
      assert.deepEqual(await read(made), deleted);
    });

    it('are not accepted from a creator who has left the organization', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization, email);
      const made = { organization, thread: await world().thread(organization, userId) };
      const addKey = async (byte: number) => {
        const keyHash = fakeHash(byte);
        const key = { id: strangers.key(), hash: keyHash, hint: '', name: '', userId, createdBy: null };
        assert.equal(await store.createApiKey(organization, key, note()), 'created');
        return { kind: 'key', userId, keyHash } as const;
      };
      const key = await addKey(77);
      await store.cancelReplies(organization, made.thread.id, operator);
      const before = await read(made);
      await store.removeMember(organization, email, false, note());
      for (const reply of [newFollowUp(), newRetry()])
        assert.equal(await store.addReply(organization, made.thread.id, reply, key), 'unauthorized');
      assert.deepEqual(await read(made), before);
      await world().member(organization, email);
      const again = await store.addReply(organization, made.thread.id, newRetry(), await addKey(78));
      assert.deepEqual(again, { outcome: 'added' });
    });

    it('return the verdict of each reply from the commit that ends it', async () => {
      const { store } = world();
      const made = await conversation();
      const { organization, thread } = made;
      const verdict = {
        statements: 2_000,
        found: 1,
        checked: [
          { start: 0, end: 12, sources: [1, 2] },
          { start: 13, end: 2 ** 31, sources: [] },
        ],
      };
      const verdicts = async () =>
        (await world().replyDetails(organization, thread.id)).map(({ verdict }) => verdict);
      const [claim] = await world().claim(leaseMs);
      assert.deepEqual(await verdicts(), [null]);
      const stale = { ...claim!, token: claim!.token + 1 };
      assert.equal(await store.settleReply(stale, { ...completed, verdict }), false);
      assert.deepEqual(await verdicts(), [null]);
      assert.equal(await store.settleReply(claim!, { ...completed, status: 'cancelled', verdict }), true);
      assert.deepEqual(await verdicts(), [verdict]);
      assert.equal(await add(made, newRetry()), 'added');
      assert.deepEqual(await verdicts(), [verdict, null]);
      const [second] = await world().claim(leaseMs);
      assert.equal(await store.settleReply(second!, completed), true);
      assert.deepEqual(await verdicts(), [verdict, null]);
    });

    it('return for each reply the request that asked for it and why it failed', async () => {
      const { store } = world();
      const made = await conversation();
      const { organization, thread } = made;
      const [claim] = await world().claim(leaseMs);
      await store.settleReply(claim!, {
        ...completed,
        status: 'failed',
        failure: 'The provider answered 401.',
      });
      const reply = newRetry({ traceId: 'another' });
      assert.equal(await add(made, reply), 'added');
      const latest = { traceId: 'another', failure: null, verdict: null };
      assert.deepEqual(await world().replyDetails(organization, thread.id), [
        { traceId: 'trace', failure: 'The provider answered 401.', verdict: null },
        latest,
      ]);
      assert.deepEqual((await store.getThreadHead(organization, thread.id))?.latest.details, latest);
    });
  });
}
