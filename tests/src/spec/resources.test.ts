import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createThread, sharedWorld, type World } from '../../harness/world/world.ts';

const utcMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('The resources', () => {
  let world: World;
  /** The create response, and the get response after the reply has completed. */
  let created: any;
  let finished: any;
  let madeBetween: [string, string];
  before(async () => {
    world = await sharedWorld();
    const began = new Date().toISOString();
    created = await createThread(world.ada, {
      prompt: '#step Reading the contract\n#step Counting the days\n#say Thirty days.',
      title: 'Notice',
      accountId: 'acc_1',
      secondaryId: 'opp_1',
    });
    madeBetween = [began, new Date().toISOString()];
    finished = await world.ada.untilDone(created.thread.id);
  });

  describe('Thread', () => {
    it('has exactly its nine fields in every response', async () => {
      const fields = [
        'accountId',
        'createdAt',
        'deleted',
        'id',
        'published',
        'secondaryId',
        'threadUrl',
        'title',
        'updatedAt',
      ];
      const { thread } = await createThread(world.ada);
      const shown = [
        thread,
        (await world.ada.get(thread.id)).body.thread,
        (await world.ada.list()).body.threads[0],
        (await world.ada.rename(thread.id, 'Renamed')).body.thread,
      ];
      for (const one of shown) {
        assert.equal(one.id, thread.id);
        assert.deepEqual(Object.keys(one).sort(), fields);
      }
    });

    it('has a stable id that starts with thr_', async () => {
      const { id } = created.thread;
      assert.match(id, /^thr_./);
      assert.equal(finished.thread.id, id);
      assert.equal((await world.ada.rename(id, 'Notice')).body.thread.id, id);
    });

    it('has the title that it was given', () => {
      assert.equal(created.thread.title, 'Notice');
      assert.equal(finished.thread.title, 'Notice');
    });

    it('has a createdAt in UTC with milliseconds: the time of its creation', () => {
      const { createdAt } = created.thread;
      assert.match(createdAt, utcMilliseconds);
      assert.ok(madeBetween[0] <= createdAt && createdAt <= madeBetween[1], createdAt);
      assert.equal(finished.thread.createdAt, createdAt);
    });

    it('has a null updatedAt until it is renamed, even while its reply is written', async () => {
      assert.equal(finished.status.state, 'idle');
      const { thread } = await createThread(world.ada);
      const done = await world.ada.untilDone(thread.id);
      assert.deepEqual([thread.updatedAt, done.thread.updatedAt], [null, null]);
      const { updatedAt } = (await world.ada.rename(thread.id, 'x')).body.thread;
      assert.match(updatedAt, utcMilliseconds);
    });

    it('has its account and its secondary linkage, or null', async () => {
      const { accountId, secondaryId } = finished.thread;
      assert.deepEqual([accountId, secondaryId], ['acc_1', 'opp_1']);
      const { thread } = await createThread(world.ada);
      assert.deepEqual([thread.accountId, thread.secondaryId], [null, null]);
    });

    it('can be published by the operator, which does not set updatedAt', async () => {
      const { thread } = await createThread(world.ada);
      assert.equal(thread.published, false);
      await world.publish(thread.id);
      const shown = (await world.ada.get(thread.id)).body.thread;
      assert.deepEqual([shown.published, shown.updatedAt], [true, null]);
    });

    it('has deleted: false in every response that returns it', async () => {
      assert.equal(created.thread.deleted, false);
      assert.equal(finished.thread.deleted, false);
      assert.ok((await world.ada.walk()).every(({ deleted }) => deleted === false));
    });

    it('has a link to the web application in every response except create', async () => {
      assert.equal(created.thread.threadUrl, null);
      const { id } = created.thread;
      const { threadUrl } = finished.thread;
      assert.equal(new URL(threadUrl).origin, world.service.baseUrl);
      assert.ok(new URL(threadUrl).pathname.endsWith(`/${id}`), threadUrl);
      const listed = (await world.ada.walk()).find((thread) => thread.id === id);
      assert.equal(listed.threadUrl, threadUrl);
      assert.equal((await world.ada.rename(id, 'Notice')).body.thread.threadUrl, threadUrl);
    });
  });

  describe('ThreadMessage', () => {
    it('has exactly its eleven fields, for user and assistant', () => {
      const fields = [
        'attachments',
        'completedAt',
        'content',
        'createdAt',
        'id',
        'model',
        'role',
        'sources',
        'status',
        'steps',
        'threadId',
      ];
      for (const message of finished.messages) assert.deepEqual(Object.keys(message).sort(), fields);
      assert.deepEqual(
        finished.messages.map(({ role }: any) => role),
        ['user', 'assistant'],
      );
    });

    it('has an id that starts with msg_ and matches the create response, and the id of its thread', () => {
      const [user, assistant] = finished.messages;
      assert.match(user.id, /^msg_./);
      assert.match(assistant.id, /^msg_./);
      assert.deepEqual([user.id, assistant.id], [created.messageId, created.responseMessageId]);
      assert.deepEqual([user.threadId, assistant.threadId], [created.thread.id, created.thread.id]);
    });

    it('has only its text when a user wrote it: every other field is null', () => {
      const { role, status, completedAt, steps, sources, attachments, model } = finished.messages[0];
      assert.equal(role, 'user');
      assert.deepEqual([status, completedAt, steps, sources, attachments, model], Array(6).fill(null));
    });

    it('has the reply’s text, status, steps and model when the assistant wrote it', () => {
      const { content, status, steps, model } = finished.messages[1];
      assert.deepEqual(
        { content, status, steps, model },
        {
          content: 'Thirty days.',
          status: 'completed',
          steps: [{ description: 'Reading the contract' }, { description: 'Counting the days' }],
          model: 'scripted',
        },
      );
    });

    it('has times in UTC with milliseconds, and is completed no earlier than it was created', () => {
      const [user, assistant] = finished.messages;
      for (const time of [user.createdAt, assistant.createdAt, assistant.completedAt]) {
        assert.match(time, utcMilliseconds);
      }
      assert.ok(assistant.completedAt >= assistant.createdAt);
    });

    it('has null sources when the reply cites none, and always null attachments', () => {
      assert.deepEqual([finished.messages[1].sources, finished.messages[1].attachments], [null, null]);
    });
  });

  describe('ThreadStatus', () => {
    it('has exactly its four fields', () => {
      assert.deepEqual(Object.keys(finished.status).sort(), [
        'activeMessageId',
        'latestUpdate',
        'state',
        'stepCount',
      ]);
    });

    it('has null, null and 0 beside the state when nothing is in progress', () => {
      assert.deepEqual(finished.status, {
        state: 'idle',
        activeMessageId: null,
        latestUpdate: null,
        stepCount: 0,
      });
    });

    it('names the message being generated, its latest step and the number of its steps', async () => {
      const prompt = '#step Reading\n#step Counting\n#hang';
      const { thread, responseMessageId } = await createThread(world.ada, { prompt });
      const { status } = await world.ada.until(thread.id, (body) => body.status.stepCount === 2);
      assert.deepEqual(status, {
        state: 'in_progress',
        activeMessageId: responseMessageId,
        latestUpdate: 'Counting',
        stepCount: 2,
      });
    });

    it('reports Thinking before the first step', async () => {
      const { thread, responseMessageId } = await createThread(world.ada, { prompt: '#hang' });
      const { status } = (await world.ada.get(thread.id)).body;
      assert.deepEqual(status, {
        state: 'in_progress',
        activeMessageId: responseMessageId,
        latestUpdate: 'Thinking',
        stepCount: 0,
      });
    });
  });
});
