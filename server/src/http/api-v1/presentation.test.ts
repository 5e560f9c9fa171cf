import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createPrincipal, World } from '../../../testing/contract/fixture.ts';
import type { MessageId, ThreadId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { AssistantMessage } from '../../domain/message.ts';
import { dayMs, hourMs } from '../../domain/time.ts';
import { createSeal } from '../../security/seal.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createThreadLists } from '../../usecases/threads/list-threads.ts';
import { pageRenderer, presentMessage } from './presentation.ts';

describe('The ETag of a page', () => {
  it('stays the same only as long as the cursor of the response that had it first can be used', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-page-'));
    const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    test.after(async () => {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const { store, clock } = world;
    const organizationId = await world.organization();
    const principal = createPrincipal(organizationId, await world.member(organizationId));
    for (let index = 0; index < 2; index += 1) await world.thread(organizationId, principal.userId);
    const seal = createSeal(new Uint8Array(32));
    const threads = createThreadLists({ store, seal, limits: defaultLimits });
    const render = pageRenderer((id) => id, clock.wall);
    const first = await threads.list(principal, { limit: 1 });
    const { etag } = render(first);
    const cursor = first.nextCursor!;
    const startedAt = clock.ms;
    let tags = 0;
    while (render(await threads.list(principal, { limit: 1 })).etag === etag) {
      assert.equal((await threads.list(principal, { limit: 1, cursor })).page.rows.length, 1);
      clock.pass(hourMs);
      tags += 1;
      assert.ok(clock.ms < startedAt + 2 * dayMs, 'the ETag never changes');
    }
    assert.ok(tags > 1, 'it stays the same for a while');
    const lastPage = async () => render(await threads.list(principal, { limit: 2 })).etag;
    const withoutCursor = await lastPage();
    clock.pass(2 * dayMs);
    assert.equal(await lastPage(), withoutCursor, 'a page without a cursor keeps its ETag');
  });
});

describe('A message in the public API', () => {
  it('shows only the description of a step', () => {
    const message: AssistantMessage = {
      id: 'msg_1' as MessageId,
      threadId: 'thr_1' as ThreadId,
      role: 'assistant',
      content: '',
      createdAt: 0,
      status: 'in_progress',
      completedAt: null,
      steps: [{ description: 'Reading', at: 5 }, { description: 'Choosing' }],
      sources: null,
      model: null,
    };
    assert.deepEqual(presentMessage(message).steps, [
      { description: 'Reading' },
      { description: 'Choosing' },
    ]);
  });
});
