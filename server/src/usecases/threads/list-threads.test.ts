import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { listIds, note, World } from '../../../testing/contract/fixture.ts';
import type { ThreadId } from '../../domain/id.ts';
import { createSeal } from '../../security/seal.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createThreadLists } from './list-threads.ts';

/** Eight threads, none published, and a walk over the published ones. */
async function publishing(test: TestContext, paginationWindow: number) {
  const folder = mkdtempSync(join(tmpdir(), 'skein-list-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  test.after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const organizationId = await world.organization();
  const userId = await world.member(organizationId);
  const ids: ThreadId[] = [];
  for (let index = 0; index < 8; index += 1) ids.unshift((await world.thread(organizationId, userId)).id);
  const seal = createSeal(new Uint8Array(32));
  const threads = createThreadLists({ store: world.store, seal, limits: { paginationWindow } });
  const principal = { organizationId, userId: null };
  return {
    ids,
    async publish(...indexes: number[]) {
      for (const index of indexes)
        await world.store.setThreadPublished(organizationId, ids[index]!, true, note());
    },
    async page(limit: number, cursor: string | null = null) {
      const listed = await threads.list(principal, { limit, ...(cursor !== null && { cursor }) });
      return { ...listed, ids: listIds(listed.page.rows), nextCursor: listed.nextCursor };
    },
  };
}

describe('Threads published during a walk', () => {
  it('displace no thread of a listing that fitted the window', async (test) => {
    const { ids, publish, page } = await publishing(test, 5);
    await publish(0, 1, 2, 3, 7);
    const first = await page(2);
    await publish(4, 5, 6);
    const second = await page(4, first.nextCursor);
    const third = await page(4, second.nextCursor);
    assert.deepEqual(
      [first, second, third].flatMap((one) => one.ids),
      ids,
    );
    assert.deepEqual(
      [first, second, third].map(({ truncated }) => truncated),
      [false, false, false],
    );
    assert.equal(third.nextCursor, null);
  });

  it('displace threads of a longer listing, which says on every page that it is truncated', async (test) => {
    const { ids, publish, page } = await publishing(test, 4);
    await publish(0, 1, 3, 5, 7);
    const first = await page(2);
    await publish(2);
    const second = await page(10, first.nextCursor);
    assert.deepEqual(
      [first, second].flatMap((one) => one.ids),
      ids.slice(0, 4),
    );
    assert.deepEqual([first.truncated, second.truncated, second.nextCursor], [true, true, null]);
  });
});
