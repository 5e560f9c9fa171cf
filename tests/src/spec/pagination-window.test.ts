import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { clockThatLeaps, dayMs } from '../../harness/service/shifted-clock.ts';
import { assertFails, createThread, startWorld, type World } from '../../harness/world/world.ts';

const window = 5;

describe('The pagination window of GET /threads', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKEIN_PAGINATION_WINDOW: String(window), ...clockThatLeaps(dayMs + 1) });
  });
  after(() => world.end());

  async function createMany(api: Api, count: number, accountId: string): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.unshift((await createThread(api, { accountId })).thread.id);
    return ids;
  }

  /** The ids of each page of a walk, and whether it is truncated. */
  async function pages(api: Api, query: Record<string, string | number>) {
    const shown: { ids: string[]; truncated: boolean }[] = [];
    let cursor: string | null = null;
    do {
      const { status, body } = await api.list({ ...query, ...(cursor !== null && { cursor }) });
      assert.equal(status, 200);
      shown.push({ ids: body.threads.map(({ id }: any) => id), truncated: body.truncated });
      cursor = body.nextCursor;
    } while (cursor !== null);
    return shown;
  }

  it('reports no page as truncated if the listing fits exactly', async () => {
    const ids = await createMany(world.ada, window, 'acc_fits');
    const shown = await pages(world.ada, { accountId: 'acc_fits', limit: 2 });
    assert.deepEqual(
      shown.flatMap((page) => page.ids),
      ids,
    );
    assert.ok(shown.every(({ truncated }) => truncated === false));
  });

  it('ends the walk at the window, and reports every page as truncated', async () => {
    const ids = await createMany(world.ada, window + 2, 'acc_exceeds');
    const shown = await pages(world.ada, { accountId: 'acc_exceeds', limit: 2 });
    assert.deepEqual(
      shown.map((page) => page.ids),
      [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4, 5)],
    );
    assert.ok(shown.every(({ truncated }) => truncated === true));
  });

  it('shows no more than the window on one page', async () => {
    const ids = await createMany(world.ada, window + 1, 'acc_page');
    const shown = await pages(world.ada, { accountId: 'acc_page', limit: 100 });
    assert.deepEqual(shown, [{ ids: ids.slice(0, window), truncated: true }]);
  });

  it('reaches older threads with an account filter', async () => {
    const old = await createMany(world.ben, 2, 'acc_old');
    await createMany(world.ben, window, 'acc_new');
    const everything = await pages(world.ben, {});
    assert.ok(everything.every(({ truncated, ids }) => truncated && !ids.includes(old[0]!)));
    assert.deepEqual(await pages(world.ben, { accountId: 'acc_old' }), [{ ids: old, truncated: false }]);
  });

  it('counts only threads that the caller may see', async () => {
    const accountId = 'acc_visible';
    const ids = await createMany(world.ada, window + 1, accountId);
    await world.publish(...ids.slice(0, 2));
    assert.equal((await world.ada.list({ accountId })).body.truncated, true);
    for (const reader of [world.ben, world.acmeWide]) {
      assert.deepEqual(await pages(reader, { accountId }), [{ ids: ids.slice(0, 2), truncated: false }]);
    }
  });

  it('counts a caller’s own published thread once', async () => {
    const accountId = 'acc_once';
    const ids = await createMany(world.ada, window, accountId);
    await world.publish(ids[0]!);
    assert.equal((await world.ada.list({ accountId })).body.truncated, false);
  });

  it('does not count deleted threads', async () => {
    const accountId = 'acc_deleted';
    const ids = await createMany(world.ada, window + 1, accountId);
    assert.equal((await world.ada.list({ accountId })).body.truncated, true);
    await world.ada.delete(ids[0]!);
    assert.deepEqual(await pages(world.ada, { accountId }), [{ ids: ids.slice(1), truncated: false }]);
  });

  it('is not moved by threads created during the walk', async () => {
    const accountId = 'acc_during';
    const ids = await createMany(world.ada, window, accountId);
    const first = (await world.ada.list({ accountId, limit: 2 })).body;
    assert.equal(first.truncated, false);
    await createMany(world.ada, 2, accountId);
    const rest = (await world.ada.list({ accountId, limit: 100, cursor: first.nextCursor })).body;
    assert.deepEqual(
      rest.threads.map(({ id }: any) => id),
      ids.slice(2),
    );
    assert.equal(rest.nextCursor, null);
  });

  it('skips no thread of a listing that fitted, although others are published during the walk', async () => {
    const accountId = 'acc_fitted';
    const ids = await createMany(world.ada, window + 3, accountId);
    const [atStart, meanwhile] = [ids.toSpliced(3, 3), ids.slice(3, 6)];
    await world.publish(...atStart);
    const first = (await world.ben.list({ accountId, limit: 2 })).body;
    assert.equal(first.truncated, false);
    await world.publish(...meanwhile);
    const second = (await world.ben.list({ accountId, limit: 4, cursor: first.nextCursor })).body;
    const third = (await world.ben.list({ accountId, limit: 100, cursor: second.nextCursor })).body;
    const shown = [first, second, third].flatMap((page) => page.threads.map(({ id }: any) => id));
    assert.deepEqual(shown, ids);
    assert.deepEqual([second.truncated, third.truncated, third.nextCursor], [false, false, null]);
  });

  it('cuts a walk whose listing was longer, although it shrinks during the walk', async () => {
    const accountId = 'acc_longer';
    const ids = await createMany(world.ada, window + 2, accountId);
    const first = (await world.ada.list({ accountId, limit: 2 })).body;
    for (const id of ids.slice(0, 2)) await world.ada.delete(id);
    const rest = (await world.ada.list({ accountId, limit: 100, cursor: first.nextCursor })).body;
    assert.deepEqual(
      rest.threads.map(({ id }: any) => id),
      ids.slice(2, window),
    );
    assert.deepEqual([rest.truncated, rest.nextCursor], [true, null]);
  });

  it('rejects a cursor that is more than a day old, and accepts a newer one', async () => {
    await createMany(world.ada, 3, 'acc_old');
    const query = { accountId: 'acc_old', limit: 1 };
    const { nextCursor } = (await world.ada.list(query)).body;
    const proceed = (cursor: string) => world.ada.list({ ...query, cursor });
    assert.equal((await proceed(nextCursor)).status, 200);
    world.service.signal('SIGUSR2');
    let answer = await proceed(nextCursor);
    while (answer.status === 200) answer = await proceed(nextCursor);
    assertFails(answer, 'INVALID_PARAMS');
    assert.match(answer.body.error.message, /^Cursor expired\. .*`cursor`/);
    assert.equal((await proceed((await world.ada.list(query)).body.nextCursor)).status, 200);
  });
});
