import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

describe('DELETE /threads/{id}', () => {
  let world: World;
  /** The id of a published thread that belongs to Ada. */
  let published: string;
  before(async () => {
    world = await sharedWorld();
    published = (await createThread(world.ada)).thread.id;
    await world.publish(published);
  });

  describe('accepts', () => {
    it('returns 200 with the id and deleted: true', async () => {
      const { thread } = await createThread(world.ada);
      const { status, body } = await world.ada.delete(thread.id);
      assert.equal(status, 200);
      assert.deepEqual(body, { id: thread.id, deleted: true });
    });

    it('removes the thread from get and list immediately, for every reader', async () => {
      const accountId = 'acc_delete';
      const kept = (await createThread(world.ada, { accountId })).thread.id;
      const gone = (await createThread(world.ada, { accountId })).thread.id;
      await world.publish(kept, gone);
      const readers = [world.ada, world.ben, world.acmeWide];
      for (const reader of readers) assert.equal((await reader.walk({ accountId })).length, 2);
      await world.ada.delete(gone);
      for (const reader of readers) {
        assertFails(await reader.get(gone), 'NOT_FOUND');
        assert.deepEqual(
          (await reader.walk({ accountId })).map(({ id }) => id),
          [kept],
        );
      }
    });

    it('deletes a thread while its reply is being generated', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#hang' });
      assert.equal((await world.ada.get(thread.id)).body.status.state, 'in_progress');
      assert.equal((await world.ada.delete(thread.id)).status, 200);
      assertFails(await world.ada.get(thread.id), 'NOT_FOUND');
    });

    it('accepts a request with an unnecessary body or Content-Type', async () => {
      for (const call of [
        { body: { any: 'thing' } },
        { headers: { 'content-type': 'application/json' } },
        { raw: '{', headers: { 'content-type': 'text/plain' } },
      ]) {
        const { thread } = await createThread(world.ada);
        const answer = await world.ada.call('DELETE', `/threads/${thread.id}`, call);
        assert.equal(answer.status, 200, JSON.stringify(call));
      }
    });
  });

  describe('rejects', () => {
    it('returns NOT_FOUND for a thread that is already deleted', async () => {
      const { thread } = await createThread(world.ada);
      assert.equal((await world.ada.delete(thread.id)).status, 200);
      assertFails(await world.ada.delete(thread.id), 'NOT_FOUND');
    });

    it('deletes once when requests are concurrent', async () => {
      const { thread } = await createThread(world.ada);
      const answers = await Promise.all(Array.from({ length: 8 }, () => world.ada.delete(thread.id)));
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...Array(7).fill(404)]);
    });

    it('returns NOT_FOUND for an unknown or malformed id', async () => {
      for (const id of ['thr_00000000000000000000000000', 'x', '%ff', 'thr_']) {
        assertFails(await world.ada.delete(id), 'NOT_FOUND', id);
      }
    });

    it('returns NOT_FOUND for the whole collection', async () => {
      assertFails(await world.ada.call('DELETE', '/threads'), 'NOT_FOUND');
      assert.equal((await world.ada.get(published)).status, 200);
    });
  });

  describe('protects', () => {
    it('requires a credential', async () => {
      assertFails(await world.nobody.delete(published), 'UNAUTHORIZED');
      assert.equal((await world.ada.get(published)).status, 200);
    });

    it('forbids deleting a colleague’s published thread', async () => {
      assertFails(await world.ben.delete(published), 'FORBIDDEN');
      assert.equal((await world.ada.get(published)).status, 200);
    });

    it('returns NOT_FOUND for a colleague’s unpublished thread', async () => {
      const { thread } = await createThread(world.ada);
      assertFails(await world.ben.delete(thread.id), 'NOT_FOUND');
      assert.equal((await world.ada.get(thread.id)).status, 200);
    });

    it('forbids org-wide principals, whatever the id', async () => {
      for (const id of [published, 'thr_00000000000000000000000000', 'x']) {
        assertFails(await world.acmeWide.delete(id), 'FORBIDDEN', id);
      }
      assert.equal((await world.ada.get(published)).status, 200);
    });

    it('returns NOT_FOUND for a thread of another organization, even a published one', async () => {
      assertFails(await world.eve.delete(published), 'NOT_FOUND');
      assert.equal((await world.ada.get(published)).status, 200);
    });
  });
});
