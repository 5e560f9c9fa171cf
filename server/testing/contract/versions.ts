import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageId } from '../../src/domain/id.ts';
import { deriveThreadStatus } from '../../src/domain/message.ts';
import type { NewReply, Store } from '../../src/storage/port/store.ts';
import {
  by,
  type Conversation,
  completed,
  granted,
  newFollowUp,
  newRetry,
  strangers,
  type World,
} from './fixture.ts';

export function describeVersions(world: () => World): void {
  describe('versions', () => {
    async function answered(): Promise<Conversation> {
      const organization = await world().organization();
      const thread = await world().thread(organization, await world().member(organization));
      await answer();
      return { organization, thread };
    }
    async function answer(): Promise<void> {
      // PostgreSQL dates writes of one organization a millisecond apart, even while the clock stands still.
      world().clock.pass(10);
      const [claim] = await world().claim(1000);
      assert.equal(await world().store.settleReply(claim!, completed), true);
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
    const newEdit = (replaces: MessageId, change: Partial<NewReply> = {}): NewReply =>
      newFollowUp({ prompt: { messageId: strangers.message(), content: 'Edited', replaces }, ...change });

    it('of a completed reply are appended without activity, and the latest one decides the status', async () => {
      const made = await answered();
      const before = await read(made);
      world().clock.pass(5);
      const again = newRetry();
      assert.equal(await add(made, again), 'added');
      const { thread, messages, version } = await read(made);
      assert.deepEqual(thread, before.thread);
      assert.ok(version > before.version);
      assert.deepEqual(messages.slice(0, 2), before.messages);
      assert.deepEqual(
        messages.slice(2).map(({ id, role, createdAt }) => ({ id, role, createdAt })),
        [{ id: again.replyId, role: 'assistant', createdAt: world().clock.ms }],
      );
      assert.equal(deriveThreadStatus(messages).activeMessageId, again.replyId);
    });

    it('of a prompt name the one they replace, everywhere that messages are read, and count as activity', async () => {
      const { store, clock } = world();
      const made = await answered();
      const before = await read(made);
      clock.pass(5);
      const edit = newEdit(made.thread.messageId);
      assert.equal(await add(made, edit), 'added');
      const { thread, messages, version } = await read(made);
      assert.equal(thread.updatedAt, clock.ms);
      assert.ok(version > before.version);
      assert.deepEqual(messages.slice(0, 2), before.messages);
      const { messageId: id, content, replaces } = edit.prompt!;
      const written = { id, threadId: thread.id, role: 'user', content, createdAt: clock.ms, replaces };
      assert.deepEqual(messages[2], written);
      assert.equal(messages[3]!.id, edit.replyId);
      const part = { skip: 2, limit: 1, bytesMax: 1000 };
      assert.deepEqual(await store.listMessages(made.organization, thread.id, part), [written]);
    });

    it('of a prompt that is not the last one are rejected', async () => {
      const made = await answered();
      const second = newFollowUp();
      assert.equal(await add(made, second), 'added');
      assert.equal(await add(made, newEdit(second.prompt!.messageId)), 'running');
      await answer();
      const before = await read(made);
      for (const replaces of [
        made.thread.messageId,
        made.thread.replyId,
        second.replyId,
        strangers.message(),
      ])
        assert.equal(await add(made, newEdit(replaces)), 'outdated');
      assert.deepEqual(await read(made), before);
      const edit = newEdit(second.prompt!.messageId);
      assert.equal(await add(made, edit), 'added');
      await answer();
      assert.equal(await add(made, newEdit(second.prompt!.messageId)), 'outdated');
      assert.equal(await add(made, newEdit(edit.prompt!.messageId)), 'added');
    });

    it('are rejected for others, in a deleted thread and above the budget', async () => {
      const { store } = world();
      const made = await answered();
      const { organization, thread } = made;
      const bob = await world().member(organization);
      const edit = newEdit(thread.messageId);
      assert.equal(granted(await store.addReply(organization, thread.id, edit, by(bob))).outcome, 'refused');
      const full = { messagesMax: 3, bytesMax: 1000 };
      assert.deepEqual(
        await store.addReply(organization, thread.id, { ...edit, budget: full }, by(thread.userId)),
        { outcome: 'full', exceeded: 'messages' },
      );
      assert.equal(await add(made, newRetry({ budget: { ...full, messagesMax: 2 } })), 'full');
      assert.equal(await add(made, { ...edit, budget: { messagesMax: 4, bytesMax: 21 } }), 'full');
      assert.equal((await read(made)).messages.length, 2);
    });

    it('of one prompt that arrive concurrently on two nodes are added once', async () => {
      const nodes = [world().store, await world().node()];
      const made = await answered();
      let last = made.thread.messageId;
      for (let round = 0; round < 4; round += 1) {
        const edits = Array.from({ length: 6 }, () => newEdit(last));
        const outcomes = await Promise.all(edits.map((edit, index) => add(made, edit, nodes[index % 2]!)));
        assert.deepEqual(outcomes.toSorted(), ['added', ...Array(5).fill('running')]);
        last = edits[outcomes.indexOf('added')]!.prompt!.messageId;
        await answer();
      }
      assert.equal((await read(made)).messages.length, 10);
    });
  });
}
