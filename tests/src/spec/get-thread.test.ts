import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

describe('GET /threads/{id}', () => {
  let world: World;
  /** A published thread of Ada's. */
  let published: any;
  /** An unpublished thread of Ada's. */
  let own: any;
  /** Published threads of Ada's: one to delete, one to unpublish. */
  let doomed: string;
  let retracted: string;
  before(async () => {
    world = await sharedWorld();
    published = await createThread(world.ada, { title: 'For everyone' });
    own = await createThread(world.ada, { title: 'For me' });
    doomed = (await createThread(world.ada)).thread.id;
    retracted = (await createThread(world.ada)).thread.id;
    await world.publish(published.thread.id, doomed, retracted);
    await world.ada.untilDone(published.thread.id);
    await world.ada.untilDone(own.thread.id);
  });

  describe('accepts', () => {
    it('returns 200 with the thread, every message in order and the status', async () => {
      const { status, body } = await world.ada.get(own.thread.id);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), ['messages', 'status', 'thread']);
      assert.equal(body.thread.id, own.thread.id);
      assert.deepEqual(
        body.messages.map(({ id }: any) => id),
        [own.messageId, own.responseMessageId],
      );
      assert.equal(body.status.state, 'idle');
    });

    it('returns a personal key’s own threads, published or not', async () => {
      assert.equal((await world.ada.get(own.thread.id)).body.thread.published, false);
      assert.equal((await world.ada.get(published.thread.id)).body.thread.published, true);
    });

    it('returns threads that a colleague published to a personal key', async () => {
      const { status, body } = await world.ben.get(published.thread.id);
      assert.equal(status, 200);
      assert.deepEqual(body, (await world.ada.get(published.thread.id)).body);
    });

    it('returns published threads to an org-wide principal', async () => {
      const { status, body } = await world.acmeWide.get(published.thread.id);
      assert.equal(status, 200);
      assert.equal(body.messages.length, 2);
    });

    it('changes nothing', async () => {
      const first = (await world.ada.get(own.thread.id)).body;
      assert.deepEqual((await world.ada.get(own.thread.id)).body, first);
    });

    it('ignores query parameters', async () => {
      const answer = await world.ada.call('GET', `/threads/${own.thread.id}?limit=0&limit=x&cursor=`);
      assert.equal(answer.status, 200);
    });
  });

  describe('rejects', () => {
    it('returns NOT_FOUND for an unknown id', async () => {
      assertFails(await world.ada.get('thr_00000000000000000000000000'), 'NOT_FOUND');
    });

    it('returns NOT_FOUND for a malformed id', async () => {
      const id: string = own.thread.id;
      const malformed = [
        'x',
        'thr_',
        id.slice(0, -1),
        `${id}0`,
        id.toUpperCase(),
        id.replace('thr_', 'msg_'),
        `%20${id}`,
        `${id}%00`,
        `${id}%0A`,
        '%ff',
        '%',
        '..%2Fthreads',
        'x'.repeat(4000),
        own.messageId,
      ];
      for (const text of malformed) assertFails(await world.ada.get(text), 'NOT_FOUND', text);
    });

    it('returns NOT_FOUND for a path with a trailing slash', async () => {
      assertFails(await world.ada.call('GET', `/threads/${own.thread.id}/`), 'NOT_FOUND');
    });

    it('returns NOT_FOUND for a deleted thread, even to its creator or if it was published', async () => {
      assert.equal((await world.ben.get(doomed)).status, 200);
      assert.equal((await world.ada.delete(doomed)).status, 200);
      for (const reader of [world.ada, world.ben, world.acmeWide]) {
        assertFails(await reader.get(doomed), 'NOT_FOUND');
      }
    });
  });

  describe('protects', () => {
    it('requires a credential', async () => {
      assertFails(await world.nobody.get(published.thread.id), 'UNAUTHORIZED');
    });

    it('hides a colleague’s unpublished thread', async () => {
      assertFails(await world.ben.get(own.thread.id), 'NOT_FOUND');
    });

    it('hides unpublished threads from an org-wide principal', async () => {
      assertFails(await world.acmeWide.get(own.thread.id), 'NOT_FOUND');
    });

    it('hides every thread of another organization, published or not', async () => {
      assertFails(await world.eve.get(own.thread.id), 'NOT_FOUND');
      assertFails(await world.eve.get(published.thread.id), 'NOT_FOUND');
    });

    it('hides a thread once it is unpublished', async () => {
      assert.equal((await world.ben.get(retracted)).status, 200);
      await world.service.skein('thread', 'unpublish', world.acme, retracted);
      assertFails(await world.ben.get(retracted), 'NOT_FOUND');
      assertFails(await world.acmeWide.get(retracted), 'NOT_FOUND');
      assert.equal((await world.ada.get(retracted)).body.thread.published, false);
    });

    it('returns the same response for missing, malformed, hidden, foreign and deleted threads', async () => {
      const { thread } = await createThread(world.ben);
      await world.ben.delete(thread.id);
      const answers = await Promise.all([
        world.ben.get('thr_00000000000000000000000000'),
        world.ben.get('x'),
        world.ben.get(own.thread.id),
        world.ben.get(thread.id),
        world.eve.get(published.thread.id),
      ]);
      const shown = answers.map(({ status, headers, body }) => {
        const { trace_id, ...error } = body.error;
        return { status, error, headers: [...headers.keys()].sort() };
      });
      for (const other of shown) assert.deepEqual(other, shown[0]);
      assert.equal(shown[0]?.status, 404);
    });
  });
});
