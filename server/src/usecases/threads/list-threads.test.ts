import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { note, World } from '../../../testing/contract/fixture.ts';
import type { ThreadId } from '../../domain/id.ts';
import { createSeal } from '../../security/seal.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import type { Context } from '../context.ts';
import { listThreads } from './list-threads.ts';

describe('A walk at the pagination window', () => {
  it('is marked as truncated when threads published meanwhile displace others', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-list-'));
    const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    test.after(async () => {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const organizationId = await world.organization();
    const userId = await world.member(organizationId);
    const ids: ThreadId[] = [];
    for (let index = 0; index < 8; index += 1) ids.push((await world.thread(organizationId, userId)).id);
    const publish = async (...indexes: number[]) => {
      for (const index of indexes)
        await world.store.setThreadPublished(organizationId, ids[index]!, true, note());
    };
    const context = {
      store: world.store,
      seal: createSeal(new Uint8Array(32)),
      limits: { paginationWindow: 6 },
    } as Partial<Context> as Context;
    const everyone = { organizationId, userId: null, keyHash: null };

    await publish(0, 4, 5, 6, 7);
    const first = await listThreads({ context, principal: everyone }, { limit: 2 });
    assert.equal(first.truncated, false);
    await publish(1, 2, 3);
    const second = await listThreads(
      { context, principal: everyone },
      { limit: 10, cursor: first.nextCursor as string },
    );
    assert.deepEqual([second.page.rows.length, second.nextCursor, second.truncated], [4, null, true]);
  });
});
