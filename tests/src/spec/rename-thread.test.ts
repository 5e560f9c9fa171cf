import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertFails,
  assertInvalid,
  createThread,
  sharedWorld,
  type World,
} from '../../harness/world/world.ts';

describe('PATCH /threads/{id}', () => {
  let world: World;
  /** A published thread of Ada's. */
  let published: string;
  before(async () => {
    world = await sharedWorld();
    published = (await createThread(world.ada, { title: 'For everyone' })).thread.id;
    await world.publish(published);
  });

  const getTitle = async (id: string): Promise<string> => (await world.ada.get(id)).body.thread.title;
  const patch = (id: string, body: unknown) => world.ada.call('PATCH', `/threads/${id}`, { body });

  describe('accepts', () => {
    it('returns 200 with the renamed thread, as get returns it from then on', async () => {
      const { thread } = await createThread(world.ada, { accountId: 'acc_1', secondaryId: 'opp_1' });
      const { status, body } = await world.ada.rename(thread.id, 'New name');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['thread']);
      assert.equal(body.thread.title, 'New name');
      assert.deepEqual(body.thread, (await world.ada.get(thread.id)).body.thread);
      const { title, updatedAt, threadUrl, ...others } = body.thread;
      for (const [name, value] of Object.entries(others)) assert.deepEqual(value, thread[name], name);
    });

    it('advances updatedAt with each rename', async () => {
      const { thread } = await createThread(world.ada);
      assert.equal(thread.updatedAt, null);
      const first = (await world.ada.rename(thread.id, 'One')).body.thread.updatedAt;
      const second = (await world.ada.rename(thread.id, 'Two')).body.thread.updatedAt;
      assert.ok(first > thread.createdAt, `${first} after ${thread.createdAt}`);
      assert.ok(second > first, `${second} after ${first}`);
    });

    it('moves the thread to the top of the list', async () => {
      const accountId = 'acc_top';
      const old = (await createThread(world.ada, { accountId })).thread.id;
      const young = (await createThread(world.ada, { accountId })).thread.id;
      const order = async () => (await world.ada.walk({ accountId })).map(({ id }) => id);
      assert.deepEqual(await order(), [young, old]);
      await world.ada.rename(old, 'Renamed');
      assert.deepEqual(await order(), [old, young]);
    });

    it('moves the thread to the top even if the title is unchanged', async () => {
      const accountId = 'acc_same';
      const old = (await createThread(world.ada, { accountId, title: 'Same' })).thread.id;
      await createThread(world.ada, { accountId });
      const { body } = await world.ada.rename(old, 'Same');
      assert.notEqual(body.thread.updatedAt, null);
      assert.equal((await world.ada.walk({ accountId }))[0].id, old);
    });

    it('stores a title of one character, of 500 code points, or of only whitespace unchanged', async () => {
      for (const title of ['x', '🧶'.repeat(500), ' ', '\n']) {
        const { status, body } = await world.ada.rename(published, title);
        assert.equal(status, 200, title);
        assert.equal(body.thread.title, title);
      }
    });

    it('renames a published thread for its creator and leaves it published', async () => {
      const { body } = await world.ada.rename(published, 'Still for everyone');
      assert.equal(body.thread.published, true);
      assert.equal((await world.ben.get(published)).body.thread.title, 'Still for everyone');
    });

    it('renames a thread while its reply is being generated, without affecting the reply', async () => {
      const { thread } = await createThread(world.ada, { prompt: '#step Looking\n#wait 700\n#say Done.' });
      assert.equal((await world.ada.get(thread.id)).body.status.state, 'in_progress');
      assert.equal((await world.ada.rename(thread.id, 'Meanwhile')).status, 200);
      const done = await world.ada.untilDone(thread.id);
      assert.deepEqual([done.thread.title, done.messages[1].content], ['Meanwhile', 'Done.']);
    });
  });

  describe('rejects', () => {
    it('rejects a title that is missing, empty, null or not a string', async () => {
      assertInvalid(await patch(published, {}), 'title', 'no title');
      for (const title of ['', null, 5, true, [], {}]) {
        assertInvalid(await patch(published, { title }), 'title', JSON.stringify(title));
      }
    });

    it('rejects any other field and changes nothing', async () => {
      const before = (await world.ada.get(published)).body.thread;
      const others = {
        accountId: 'acc_2',
        secondaryId: 'opp_2',
        published: false,
        deleted: true,
        id: 'thr_00000000000000000000000000',
        createdAt: '2001-01-01T00:00:00.000Z',
        anything: null,
        ['__proto__']: { title: 'x' },
        constructor: { prototype: { title: 'x' } },
      };
      for (const [field, value] of Object.entries(others)) {
        assertInvalid(await patch(published, { title: 'Changed', [field]: value }), field);
        assertFails(await patch(published, { [field]: value }), 'INVALID_PARAMS', field);
      }
      assert.deepEqual((await world.ada.get(published)).body.thread, before);
    });

    it('rejects a body that is not a JSON object or not sent as JSON', async () => {
      for (const raw of ['', '{', '[]', '"title"', 'null']) {
        assertFails(await world.ada.call('PATCH', `/threads/${published}`, { raw }), 'INVALID_PARAMS', raw);
      }
      assertFails(await world.ada.call('PATCH', `/threads/${published}`), 'INVALID_PARAMS', 'no body');
      const call = { body: { title: 'x' }, headers: { 'content-type': 'text/plain' } };
      assertFails(await world.ada.call('PATCH', `/threads/${published}`, call), 'INVALID_PARAMS', 'text');
    });

    it('rejects a title with 501 code points, NUL, a lone surrogate or invalid UTF-8', async () => {
      assertInvalid(await patch(published, { title: 'x'.repeat(501) }), 'title', '501');
      const invalid = Buffer.from('{"title":"a?"}');
      invalid[invalid.indexOf('?')] = 0xc3;
      for (const raw of ['{"title":"a\\u0000"}', '{"title":"\\ud83e"}', invalid]) {
        assertInvalid(await world.ada.call('PATCH', `/threads/${published}`, { raw }), 'title', String(raw));
      }
    });

    it('returns NOT_FOUND for a missing, malformed or deleted thread', async () => {
      const { thread } = await createThread(world.ada);
      await world.ada.delete(thread.id);
      for (const id of ['thr_00000000000000000000000000', 'x', thread.id]) {
        assertFails(await world.ada.rename(id, 'x'), 'NOT_FOUND', id);
      }
    });
  });

  describe('protects', () => {
    it('requires a credential', async () => {
      assertFails(await world.nobody.rename(published, 'x'), 'UNAUTHORIZED');
    });

    it('forbids renaming a colleague’s published thread', async () => {
      const title = await getTitle(published);
      assertFails(await world.ben.rename(published, 'Ben’s'), 'FORBIDDEN');
      assert.equal(await getTitle(published), title);
    });

    it('returns NOT_FOUND for a colleague’s unpublished thread', async () => {
      const { thread } = await createThread(world.ada, { title: 'Mine' });
      assertFails(await world.ben.rename(thread.id, 'Ben’s'), 'NOT_FOUND');
      assert.equal(await getTitle(thread.id), 'Mine');
    });

    it('forbids org-wide principals, whatever the id', async () => {
      const title = await getTitle(published);
      for (const id of [published, 'thr_00000000000000000000000000', 'x']) {
        assertFails(await world.acmeWide.rename(id, 'Everyone’s'), 'FORBIDDEN', id);
      }
      assert.equal(await getTitle(published), title);
    });

    it('returns NOT_FOUND for a thread of another organization, even a published one', async () => {
      const title = await getTitle(published);
      assertFails(await world.eve.rename(published, 'Eve’s'), 'NOT_FOUND');
      assert.equal(await getTitle(published), title);
    });
  });
});
