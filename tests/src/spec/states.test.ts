import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

describe('States and transitions', () => {
  let world: World;
  before(async () => {
    world = await sharedWorld();
  });

  const start = async (...script: string[]): Promise<any> =>
    createThread(world.ada, { prompt: script.join('\n') });

  describe('The status of a thread', () => {
    it('is in_progress as soon as create responds', async () => {
      const { thread } = await start('#hang');
      assert.equal((await world.ada.get(thread.id)).body.status.state, 'in_progress');
    });

    it('becomes idle when the reply has finished, and stays idle', async () => {
      const { thread } = await start('#say Done.');
      const done = await world.ada.untilDone(thread.id);
      assert.equal(done.status.state, 'idle');
      assert.deepEqual((await world.ada.get(thread.id)).body, done);
    });

    it('becomes error when the reply has failed, and stays error', async () => {
      const { thread } = await start('#step Trying', '#fail the disk is on fire');
      const done = await world.ada.untilDone(thread.id);
      assert.deepEqual(done.status, {
        state: 'error',
        activeMessageId: null,
        latestUpdate: null,
        stepCount: 0,
      });
      assert.deepEqual((await world.ada.get(thread.id)).body, done);
    });

    it('stays in_progress while the reply is corroborated', async () => {
      const { thread, responseMessageId } = await start('#step Checking', '#corroborate', '#hang');
      const { status } = await world.ada.until(
        thread.id,
        (body) => body.messages[1].status === 'corroborating',
      );
      assert.deepEqual([status.state, status.activeMessageId], ['in_progress', responseMessageId]);
    });

    it('is derived: a caller cannot set it', async () => {
      const answer = await world.ada.create({ prompt: '#hang', status: { state: 'idle' }, state: 'idle' });
      const { id } = answer.body.thread;
      assert.equal((await world.ada.get(id)).body.status.state, 'in_progress');
      const call = { body: { title: 'x', status: { state: 'idle' } } };
      assertFails(await world.ada.call('PATCH', `/threads/${id}`, call), 'INVALID_PARAMS');
    });
  });

  describe('The life of a thread', () => {
    it('starts with a create: the prompt is stored, the reply starts automatically, updatedAt is null', async () => {
      const { thread, messageId } = await start('#step Alone', '#say Done.');
      assert.deepEqual([thread.deleted, thread.published, thread.updatedAt], [false, false, null]);
      const done = await world.ada.untilDone(thread.id);
      assert.equal(done.messages[0].id, messageId);
      assert.equal(done.messages[1].content, 'Done.');
    });

    it('returns from create without waiting for the reply', async () => {
      const { thread } = await start('#hang');
      const { messages } = (await world.ada.get(thread.id)).body;
      assert.deepEqual([messages[1].status, messages[1].content], ['in_progress', '']);
    });

    it('continues with rename: a new title, updatedAt, and the top of the list', async () => {
      const { thread } = await start('#say One.');
      await start('#say Two.');
      assert.notEqual((await world.ada.list({ limit: 1 })).body.threads[0].id, thread.id);
      const renamed = (await world.ada.rename(thread.id, 'Renamed')).body.thread;
      assert.equal(renamed.title, 'Renamed');
      assert.notEqual(renamed.updatedAt, null);
      assert.deepEqual((await world.ada.list({ limit: 1 })).body.threads, [renamed]);
    });

    it('ends with delete: neither get nor list returns it any more', async () => {
      const { thread } = await start('#say Done.');
      assert.deepEqual((await world.ada.delete(thread.id)).body, { id: thread.id, deleted: true });
      assertFails(await world.ada.get(thread.id), 'NOT_FOUND');
      assert.ok((await world.ada.walk()).every(({ id }) => id !== thread.id));
    });
  });

  describe('The status of an assistant message', () => {
    it('starts in_progress, with no text, no steps and no completedAt', async () => {
      const { thread } = await start('#hang');
      const { content, status, steps, completedAt } = (await world.ada.get(thread.id)).body.messages[1];
      assert.deepEqual(
        { content, status, steps, completedAt },
        { content: '', status: 'in_progress', steps: [], completedAt: null },
      );
    });

    it('shows the steps and the text so far while in_progress', async () => {
      const { thread } = await start(
        '#step One',
        '#say Half',
        '#wait 600',
        '#step Two',
        '#say  way',
        '#hang',
      );
      const early = await world.ada.until(thread.id, (body) => body.status.stepCount === 1);
      assert.equal(early.status.latestUpdate, 'One');
      assert.equal(early.messages[1].content, 'Half');
      const later = await world.ada.until(thread.id, (body) => body.status.stepCount === 2);
      assert.equal(later.messages[1].content, 'Half way');
      assert.deepEqual(later.messages[1].steps, [{ description: 'One' }, { description: 'Two' }]);
      assert.deepEqual([later.messages[1].status, later.messages[1].completedAt], ['in_progress', null]);
    });

    it('passes through corroborating, still without completedAt, to completed', async () => {
      const { thread } = await start('#say Draft.', '#corroborate', '#step 1 of 1 found', '#wait 1000');
      const corroborating = await world.ada.until(
        thread.id,
        (body) => body.messages[1].status !== 'in_progress',
      );
      assert.equal(corroborating.messages[1].status, 'corroborating');
      assert.equal(corroborating.messages[1].completedAt, null);
      const done = await world.ada.untilDone(thread.id);
      assert.equal(done.messages[1].status, 'completed');
      assert.notEqual(done.messages[1].completedAt, null);
    });

    it('is completed together with completedAt, the whole text and every step', async () => {
      const { thread } = await start('#step One', '#say A', '#say B', '#step Two');
      const { content, status, steps, completedAt } = (await world.ada.untilDone(thread.id)).messages[1];
      assert.deepEqual([status, content, steps.length], ['completed', 'AB', 2]);
      assert.notEqual(completedAt, null);
    });

    it('is failed together with completedAt and a neutral sentence that does not reveal the reason', async () => {
      const { thread } = await start('#step Trying', '#say Half', '#fail token sk-123 was refused');
      const done = await world.ada.untilDone(thread.id);
      const { content, status, completedAt } = done.messages[1];
      assert.equal(status, 'failed');
      assert.notEqual(completedAt, null);
      assert.match(content, /\w/);
      assert.doesNotMatch(JSON.stringify(done.messages[1]), /sk-123|refused|Half/);
    });

    it('is failed when corroboration fails', async () => {
      const { thread } = await start('#say Draft.', '#corroborate', '#fail no evidence');
      const done = await world.ada.untilDone(thread.id);
      assert.deepEqual([done.messages[1].status, done.status.state], ['failed', 'error']);
    });

    it('is independent of the replies in other threads', async () => {
      const hanging = await start('#hang');
      const failing = await start('#fail');
      const finishing = await start('#say Done.');
      assert.equal((await world.ada.untilDone(failing.thread.id)).status.state, 'error');
      assert.equal((await world.ada.untilDone(finishing.thread.id)).status.state, 'idle');
      assert.equal((await world.ada.get(hanging.thread.id)).body.status.state, 'in_progress');
    });
  });
});
