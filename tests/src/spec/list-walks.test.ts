import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { Service } from '../../harness/service/service.ts';
import { makePersonalKey } from '../../harness/world/tenants.ts';
import { assertInvalid, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

const listIds = (threads: any[]): string[] => threads.map(({ id }) => id);

/** One walk, page by page, so that a test can act between two pages. */
class PageWalk {
  readonly seen: string[] = [];
  readonly #api: Api;
  readonly #query: Record<string, string | number>;
  #cursor: string | null | undefined;

  constructor(api: Api, query: Record<string, string | number>) {
    this.#api = api;
    this.#query = query;
  }

  get over(): boolean {
    return this.#cursor === null;
  }

  async next(limit: number): Promise<void> {
    assert.ok(!this.over, 'the walk goes on');
    const cursor = this.#cursor ? { cursor: this.#cursor } : {};
    const { status, body } = await this.#api.list({ ...this.#query, limit, ...cursor });
    assert.equal(status, 200);
    assert.ok(body.threads.length <= limit);
    this.seen.push(...listIds(body.threads));
    this.#cursor = body.nextCursor;
  }

  async rest(limit: number): Promise<string[]> {
    while (!this.over) await this.next(limit);
    return this.seen;
  }
}

describe('A walk over GET /threads', () => {
  let world: World;
  let accounts = 0;
  /** Three threads of Ada's, in order of creation. */
  let publishedIds: string[];
  before(async () => {
    world = await sharedWorld();
    publishedIds = [];
    while (publishedIds.length < 3) publishedIds.push((await createThread(world.ada)).thread.id);
    await world.publish(...publishedIds);
  });

  /** This many threads in a new account, in list order: the newest first. */
  async function listing(count: number): Promise<{ accountId: string; ids: string[] }> {
    accounts += 1;
    const accountId = `acc_${accounts}`;
    const ids: string[] = [];
    while (ids.length < count) ids.unshift((await createThread(world.ada, { accountId })).thread.id);
    return { accountId, ids };
  }

  describe('accepts', () => {
    it('neither repeats nor skips a thread while others are created, and leaves out new ones', async () => {
      const { accountId, ids } = await listing(7);
      const walk = new PageWalk(world.ada, { accountId });
      while (!walk.over) {
        await walk.next(2);
        await createThread(world.ada, { accountId });
      }
      assert.deepEqual(walk.seen, ids);
      assert.equal((await world.ada.walk({ accountId })).length, 11);
    });

    it('shows a thread renamed during it once, at its position at the start', async () => {
      const { accountId, ids } = await listing(8);
      const walk = new PageWalk(world.ada, { accountId });
      await walk.next(2);
      // One already listed, one not yet listed, the last one, and one twice.
      for (const index of [0, 3, 7, 5, 5]) await world.ada.rename(ids[index]!, 'Renamed meanwhile');
      await walk.next(2);
      await world.ada.rename(ids[4]!, 'Renamed later');
      await world.ada.rename(ids[3]!, 'Renamed again');
      assert.deepEqual(await walk.rest(2), ids);
      const next = listIds(await world.ada.walk({ accountId }));
      assert.deepEqual(
        next.slice(0, 5),
        [3, 4, 5, 7, 0].map((index) => ids[index]),
      );
    });

    it('leaves out a thread deleted during it and skips no other', async () => {
      const { accountId, ids } = await listing(8);
      const walk = new PageWalk(world.ada, { accountId });
      await walk.next(3);
      // The thread at the cursor, the one right after it, and one that was renamed before.
      await world.ada.rename(ids[6]!, 'Renamed, then deleted');
      for (const index of [2, 3, 6]) await world.ada.delete(ids[index]!);
      assert.deepEqual(
        await walk.rest(2),
        [0, 1, 2, 4, 5, 7].map((index) => ids[index]),
      );
    });

    it('ends with a null cursor when all remaining threads have been deleted', async () => {
      const { accountId, ids } = await listing(4);
      const walk = new PageWalk(world.ada, { accountId });
      await walk.next(2);
      for (const id of ids.slice(2)) await world.ada.delete(id);
      assert.deepEqual(await walk.rest(2), ids.slice(0, 2));
    });

    it('lets the limit change from page to page', async () => {
      const { accountId, ids } = await listing(9);
      const walk = new PageWalk(world.ada, { accountId });
      for (const limit of [1, 3, 2, 100]) await walk.next(limit);
      assert.ok(walk.over);
      assert.deepEqual(walk.seen, ids);
    });

    it('returns the same page when a cursor is reused', async () => {
      const { accountId, ids } = await listing(5);
      const { nextCursor: cursor } = (await world.ada.list({ accountId, limit: 2 })).body;
      for (let round = 0; round < 2; round += 1) {
        await createThread(world.ada, { accountId });
        const { body } = await world.ada.list({ accountId, limit: 2, cursor });
        assert.deepEqual(listIds(body.threads), ids.slice(2, 4));
      }
    });

    it('works without an account filter, across own and published threads of several people', async () => {
      const expected: string[] = [];
      for (const id of publishedIds) expected.unshift(id);
      for (let round = 0; round < 2; round += 1) expected.unshift((await createThread(world.ben)).thread.id);
      await createThread(world.ada);
      const walk = new PageWalk(world.ben, {});
      await walk.next(1);
      await world.ada.rename(expected[3]!, 'Renamed by its owner');
      await createThread(world.ben);
      assert.deepEqual(await walk.rest(1), expected);
    });

    it('keeps these guarantees under concurrent creates, renames and deletes', async () => {
      const { accountId, ids } = await listing(30);
      const doomed = ids.filter((_, index) => index % 7 === 3);
      const walks = [1, 3, 4].map((limit) => ({ limit, walk: new PageWalk(world.ada, { accountId }) }));
      await Promise.all(walks.map(({ walk, limit }) => walk.next(limit)));
      let walking = true;
      const renames = async () => {
        for (let turn = 0; walking; turn += 1) await world.ada.rename(ids[(turn * 11) % 30]!, `Turn ${turn}`);
      };
      const creates = async () => {
        while (walking) await createThread(world.ada, { accountId });
      };
      const deletes = async () => {
        for (const id of doomed) await world.ada.delete(id);
      };
      const writers = [renames(), creates(), deletes()];
      const seen = await Promise.all(walks.map(({ walk, limit }) => walk.rest(limit))).finally(() => {
        walking = false;
      });
      await Promise.all(writers);
      for (const shown of seen) {
        assert.equal(new Set(shown).size, shown.length, 'nothing twice');
        const kept = (id: string) => !doomed.includes(id);
        assert.deepEqual(shown.filter(kept), ids.filter(kept), 'everything else, in the order of the start');
        assert.ok(
          shown.every((id) => ids.includes(id)),
          'nothing younger than the walk',
        );
      }
    });

    it('continues with another key of the same person', async () => {
      const { accountId, ids } = await listing(3);
      const { nextCursor: cursor } = (await world.ada.list({ accountId, limit: 1 })).body;
      const { api } = await makePersonalKey(world.service, world.acme, 'ada@acme.example');
      const { body } = await api.list({ accountId, cursor });
      assert.deepEqual(listIds(body.threads), ids.slice(1));
    });

    it('continues at another process on the same store', async () => {
      const { accountId, ids } = await listing(3);
      const { nextCursor: cursor } = (await world.ada.list({ accountId, limit: 1 })).body;
      const other = await Service.start({ folder: world.service.folder });
      try {
        const url = `${other.baseUrl}/api/v1/threads?accountId=${accountId}&cursor=${encodeURIComponent(cursor)}`;
        const answer = await fetch(url, { headers: { authorization: `Bearer ${world.adaKey.key}` } });
        assert.equal(answer.status, 200);
        assert.deepEqual(listIds(((await answer.json()) as any).threads), ids.slice(1));
      } finally {
        await other.end();
      }
    });
  });

  describe('rejects', () => {
    it('rejects a cursor that no listing returned, and never falls back to the first page', async () => {
      for (const cursor of [
        '',
        ' ',
        'x',
        '0',
        'null',
        'undefined',
        '\0',
        'e30',
        'eyJpZCI6MX0=',
        '🧶',
        'A'.repeat(120),
      ]) {
        assertInvalid(await world.ada.list({ cursor }), 'cursor', JSON.stringify(cursor));
      }
      assertInvalid(await world.ada.call('GET', '/threads?cursor'), 'cursor', 'cursor without a value');
      assertInvalid(await world.ada.call('GET', '/threads?cursor=%ff'), 'cursor', 'invalid UTF-8');
    });

    it('rejects a cursor that was altered, truncated or extended', async () => {
      const { accountId } = await listing(2);
      const cursor: string = (await world.ada.list({ accountId, limit: 1 })).body.nextCursor;
      assert.equal((await world.ada.list({ accountId, cursor })).status, 200);
      const changed = [...cursor].map((letter, index) => {
        const other = letter === 'A' ? 'B' : 'A';
        return cursor.slice(0, index) + other + cursor.slice(index + 1);
      });
      const spoilt = [
        ...changed,
        cursor.slice(1),
        cursor.slice(0, -1),
        `${cursor}A`,
        `${cursor}=`,
        `${cursor} `,
      ];
      for (const text of [...spoilt, cursor.slice(0, 20), cursor + cursor, cursor.toLowerCase()]) {
        assertInvalid(await world.ada.list({ accountId, cursor: text }), 'cursor', text);
      }
    });
  });

  describe('protects', () => {
    it('rejects a cursor from a listing with a different account filter or none', async () => {
      const { accountId } = await listing(2);
      const { nextCursor: filtered } = (await world.ada.list({ accountId, limit: 1 })).body;
      const { nextCursor: unfiltered } = (await world.ada.list({ limit: 1 })).body;
      assert.ok(filtered && unfiltered);
      assertInvalid(await world.ada.list({ cursor: filtered }), 'cursor', 'without the account');
      assertInvalid(
        await world.ada.list({ cursor: filtered, accountId: 'acc_0' }),
        'cursor',
        'another account',
      );
      assertInvalid(await world.ada.list({ cursor: filtered, accountId: '' }), 'cursor', 'an empty account');
      assertInvalid(await world.ada.list({ cursor: unfiltered, accountId }), 'cursor', 'an account added');
    });

    it('rejects a cursor from another principal', async () => {
      const getCursor = async (api: Api): Promise<string> => {
        const { nextCursor } = (await api.list({ limit: 1 })).body;
        assert.notEqual(nextCursor, null);
        return nextCursor;
      };
      const adas = await getCursor(world.ada);
      const everyones = await getCursor(world.acmeWide);
      assertInvalid(await world.ben.list({ cursor: adas }), 'cursor', 'a colleague');
      assertInvalid(await world.acmeWide.list({ cursor: adas }), 'cursor', 'org-wide');
      assertInvalid(await world.ada.list({ cursor: everyones }), 'cursor', 'from org-wide');
    });

    it('rejects a cursor from another organization', async () => {
      const { accountId } = await listing(2);
      const { nextCursor: cursor } = (await world.ada.list({ accountId, limit: 1 })).body;
      assertInvalid(await world.eve.list({ accountId, cursor }), 'cursor');
    });

    it('reveals nothing to the caller in a cursor', async () => {
      const { accountId, ids } = await listing(2);
      const { nextCursor: cursor } = (await world.ada.list({ accountId, limit: 1 })).body;
      const decoded = Buffer.from(cursor, 'base64url').toString('latin1');
      for (const text of [ids[0]!, accountId, world.acme, 'thr_']) {
        assert.ok(!cursor.includes(text) && !decoded.includes(text), text);
      }
    });
  });
});
