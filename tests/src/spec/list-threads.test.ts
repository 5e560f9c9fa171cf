import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import {
  assertFails,
  assertInvalid,
  createThread,
  sharedWorld,
  type World,
} from '../../harness/world/world.ts';

const listIds = (threads: any[]): string[] => threads.map(({ id }) => id);

describe('GET /threads', () => {
  let world: World;
  /** Threads of several people in one account, in order of creation. */
  const shared = 'acc_shared';
  let people: Record<'adas' | 'adasPublished' | 'bensPublished' | 'bens' | 'deleted', string>;
  before(async () => {
    world = await sharedWorld();
    const create = async (api: Api) => (await createThread(api, { accountId: shared })).thread.id;
    people = {
      adas: await create(world.ada),
      adasPublished: await create(world.ada),
      bensPublished: await create(world.ben),
      bens: await create(world.ben),
      deleted: await create(world.ada),
    };
    await world.publish(people.adasPublished, people.bensPublished, people.deleted);
    assert.equal((await world.ben.get(people.deleted)).status, 200);
    await world.ada.delete(people.deleted);
  });

  /** Threads of an account, in order of creation. */
  async function createMany(count: number, accountId: string): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push((await createThread(world.ada, { accountId })).thread.id);
    return ids;
  }

  describe('accepts', () => {
    it('returns 200 with threads, nextCursor and truncated, even when the list is empty', async () => {
      const { status, body } = await world.ada.list({ accountId: 'acc_none' });
      assert.equal(status, 200);
      assert.deepEqual(body, { threads: [], nextCursor: null, truncated: false });
    });

    it('returns each thread as get returns it', async () => {
      const accountId = 'acc_same';
      const [plain, renamed] = (await createMany(2, accountId)) as [string, string];
      await world.ada.rename(renamed, 'Renamed');
      const { threads } = (await world.ada.list({ accountId })).body;
      assert.deepEqual(threads, [
        (await world.ada.get(renamed)).body.thread,
        (await world.ada.get(plain)).body.thread,
      ]);
    });

    it('lists the most recent activity first: a rename counts, a finished reply does not', async () => {
      const accountId = 'acc_order';
      const [a, b, c] = (await createMany(3, accountId)) as [string, string, string];
      assert.deepEqual(listIds(await world.ada.walk({ accountId })), [c, b, a]);
      await world.ada.rename(b, 'Moves up');
      await world.ada.untilDone(a);
      const threads = await world.ada.walk({ accountId });
      assert.deepEqual(listIds(threads), [b, c, a]);
      assert.deepEqual(
        threads.map(({ updatedAt }) => updatedAt === null),
        [false, true, true],
      );
    });

    it('orders threads with equal times by id', async () => {
      const accountId = 'acc_ties';
      let created: any[] = [];
      for (
        let round = 0;
        round < 20 && new Set(created.map((t) => t.createdAt)).size === created.length;
        round += 1
      ) {
        const made = await Promise.all(
          Array.from({ length: 20 }, () => createThread(world.ada, { accountId })),
        );
        created = created.concat(made.map(({ thread }) => thread));
      }
      assert.ok(new Set(created.map((t) => t.createdAt)).size < created.length, 'two threads share a time');
      const expected = created
        .map(({ createdAt, id }) => `${createdAt} ${id}`)
        .sort()
        .reverse();
      const listed = await world.ada.walk({ accountId, limit: 3 });
      assert.deepEqual(
        listed.map(({ createdAt, id }) => `${createdAt} ${id}`),
        expected,
      );
    });

    it('returns 25 threads per page by default, and up to 100', async () => {
      const accountId = 'acc_pages';
      await Promise.all(Array.from({ length: 101 }, () => createThread(world.ada, { accountId })));
      const count = async (query: object) =>
        (await world.ada.list({ accountId, ...query })).body.threads.length;
      assert.equal(await count({}), 25);
      assert.equal(await count({ limit: 1 }), 1);
      assert.equal(await count({ limit: 26 }), 26);
      assert.equal(await count({ limit: 100 }), 100);
    });

    it('reaches every page through nextCursor, which is null only on the last page', async () => {
      const accountId = 'acc_walk';
      const expected = (await createMany(6, accountId)).reverse();
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const { body } = await world.ada.list({ accountId, limit: 2, ...(cursor !== null && { cursor }) });
        pages.push(listIds(body.threads));
        cursor = body.nextCursor;
      } while (cursor !== null);
      // Six threads in pages of two: the last page is full, and its cursor is still null.
      assert.deepEqual(pages, [expected.slice(0, 2), expected.slice(2, 4), expected.slice(4)]);
    });

    it('returns only threads of the given account', async () => {
      const [one] = await createMany(1, 'acc_one');
      await createMany(1, 'acc_on');
      await createMany(1, 'ACC_ONE');
      await createThread(world.ada);
      assert.deepEqual(listIds(await world.ada.walk({ accountId: 'acc_one' })), [one]);
    });

    it('accepts any accountId that a thread can have, URL-encoded', async () => {
      for (const accountId of ['a b+c&d=e/ü?#%25', '🧶'.repeat(255), "'; --", '%']) {
        const [id] = await createMany(1, accountId);
        assert.deepEqual(listIds(await world.ada.walk({ accountId })), [id], accountId);
      }
    });

    it('ignores unknown query parameters', async () => {
      const [id] = await createMany(1, 'acc_unknown');
      const answer = await world.ada.call(
        'GET',
        '/threads?accountId=acc_unknown&x=1&x=2&Limit=0&offset=9&published',
      );
      assert.equal(answer.status, 200);
      assert.deepEqual(listIds(answer.body.threads), [id]);
    });
  });

  describe('rejects', () => {
    it('rejects a limit that is not an integer from 1 to 100', async () => {
      for (const limit of [
        '0',
        '101',
        '-1',
        '1.5',
        '1e1',
        '',
        '+5',
        '05',
        '0x10',
        ' 5',
        'ten',
        '5;',
        'null',
        '1'.repeat(400),
      ]) {
        assertInvalid(await world.ada.list({ limit }), 'limit', `limit=${limit}`);
      }
      assertInvalid(await world.ada.call('GET', '/threads?limit'), 'limit', 'limit without a value');
    });

    it('rejects a repeated parameter', async () => {
      for (const [name, value] of Object.entries({ limit: '5', accountId: 'a', cursor: 'c' })) {
        const answer = await world.ada.call('GET', `/threads?${name}=${value}&${name}=${value}`);
        assertInvalid(answer, name, name);
      }
    });

    it('rejects an accountId with NUL, invalid UTF-8 or more than 255 code points', async () => {
      for (const text of ['a%00', '%ff', '%ed%a0%80', '%', 'x'.repeat(256)]) {
        assertInvalid(await world.ada.call('GET', `/threads?accountId=${text}`), 'accountId', text);
      }
    });

    it('returns NOT_FOUND for a path with a trailing slash', async () => {
      assertFails(await world.ada.call('GET', '/threads/'), 'NOT_FOUND');
    });
  });

  describe('protects', () => {
    it('requires a credential', async () => {
      assertFails(await world.nobody.list(), 'UNAUTHORIZED');
    });

    it('lists a personal key’s own threads and all published threads of the organization', async () => {
      const { adas, adasPublished, bensPublished, bens } = people;
      const accountId = shared;
      assert.deepEqual(listIds(await world.ada.walk({ accountId })), [bensPublished, adasPublished, adas]);
      assert.deepEqual(listIds(await world.ben.walk({ accountId })), [bens, bensPublished, adasPublished]);
    });

    it('lists only published threads for an org-wide principal', async () => {
      const { adasPublished, bensPublished } = people;
      assert.deepEqual(listIds(await world.acmeWide.walk()), [bensPublished, adasPublished]);
      assert.deepEqual(listIds(await world.acmeWide.walk({ accountId: shared })), [
        bensPublished,
        adasPublished,
      ]);
    });

    it('lists a caller’s own published thread once across all pages', async () => {
      const shown = listIds(await world.ada.walk({ accountId: shared, limit: 1 }));
      assert.deepEqual(
        shown.filter((id) => id === people.adasPublished),
        [people.adasPublished],
      );
    });

    it('never lists a deleted thread', async () => {
      for (const reader of [world.ada, world.ben, world.acmeWide]) {
        const shown = listIds(await reader.walk());
        assert.ok(shown.includes(people.adasPublished));
        assert.ok(!shown.includes(people.deleted));
      }
    });

    it('lists no threads of another organization', async () => {
      const { thread } = await createThread(world.eve, { accountId: shared });
      assert.deepEqual(listIds(await world.eve.walk()), [thread.id]);
      assert.deepEqual(listIds(await world.eve.walk({ accountId: shared })), [thread.id]);
      assert.ok(!listIds(await world.ada.walk({ accountId: shared })).includes(thread.id));
    });
  });
});
