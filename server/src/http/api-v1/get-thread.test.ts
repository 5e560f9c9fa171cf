import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Signals } from '../../../../runtime/src/pure/signals.ts';
import { machineTimers } from '../../../../runtime/src/timers.ts';
import {
  by,
  createPrincipal,
  newFollowUp,
  note,
  operator,
  World,
} from '../../../testing/contract/fixture.ts';
import type { ThreadId } from '../../domain/id.ts';
import type { Principal, UserPrincipal } from '../../domain/principal.ts';
import { noTelemetry } from '../../domain/telemetry.ts';
import { ReplySignals } from '../../replies/index.ts';
import type { NewThread, Store } from '../../storage/port/store.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createFollowedThreads } from '../../usecases/threads/followed-threads.ts';
import { createThreadReads, type ThreadReads } from '../../usecases/threads/get-thread.ts';
import { createReplyWaits, type ReplyWaits } from '../../usecases/threads/wait-for-reply.ts';
import { getThreadRoute } from './get-thread.ts';

describe('The ETag of a thread', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-etag-'));
  let world: World;
  let threads: ThreadReads;
  let replies: ReplyWaits;
  const replySignals = new ReplySignals();
  let ada: UserPrincipal;
  let thread: NewThread;
  let loads = 0;

  before(async () => {
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    const store: Store = {
      ...world.store,
      getThread: (...args) => {
        loads += 1;
        return world.store.getThread(...args);
      },
    };
    const watchReply = replySignals.watch.bind(replySignals);
    const sources = { store, watchReply, threadSignals: new Signals<ThreadId>(), timers: machineTimers };
    threads = createThreadReads({ store, followedThreads: createFollowedThreads(sources) });
    replies = createReplyWaits({ store, watchReply, telemetry: noTelemetry });
    const organizationId = await world.organization();
    ada = createPrincipal(organizationId, await world.member(organizationId));
    thread = await world.thread(organizationId, ada.userId);
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function get(
    headers: Record<string, string> = {},
    home = 'https://skein.example',
    principal: Principal = ada,
  ) {
    loads = 0;
    const { body, etag } = await getThreadRoute(threads, replies, (id) => `${home}/threads/${id}`).handle({
      principal: principal as UserPrincipal,
      path: { id: thread.id },
      query: {},
      headers,
      body: {},
      traceId: 'trace',
      async hold(ms, wait) {
        await wait(AbortSignal.timeout(ms));
        return principal as UserPrincipal;
      },
    });
    assert.ok(etag);
    return { body, etag, loads };
  }

  it('is compared without loading a message', async () => {
    const { etag, loads } = await get();
    assert.equal(loads, 1);
    for (const known of [etag, '*', `"x", ${etag.slice(2)}`]) {
      assert.deepEqual(await get({ 'if-none-match': known }), { body: undefined, etag, loads: 0 });
    }
    const other = await get({ 'if-none-match': '"x"' });
    assert.deepEqual([other.etag, other.loads, other.body === undefined], [etag, 1, false]);
  });

  it('changes exactly when the response changes', async () => {
    const [claim] = await world.claim(1000);
    const { organizationId, userId } = ada;
    const { store } = world;
    let last = await get();
    const steps: Record<string, () => Promise<unknown>> = {
      nothing: async () => {},
      renewal: () => store.renewReplies([claim!], 2000),
      rename: () => store.renameThread(organizationId, thread.id, 'Renamed', by(userId)),
      publish: () => store.setThreadPublished(organizationId, thread.id, true, note()),
      'publish again': () => store.setThreadPublished(organizationId, thread.id, true, note()),
      progress: () => store.recordReplyProgress(claim!, { status: 'in_progress', content: 'So', steps: [] }),
      cancel: () => store.cancelReplies(organizationId, thread.id, operator),
      'cancel again': () => store.cancelReplies(organizationId, thread.id, operator),
    };
    for (const [name, step] of Object.entries(steps)) {
      await step();
      const now = await get();
      const same = JSON.stringify(now.body) === JSON.stringify(last.body);
      assert.equal(now.etag === last.etag, same, name);
      last = now;
    }
    const elsewhere = await get({}, 'https://elsewhere.example');
    assert.notEqual(elsewhere.etag, last.etag, 'threadUrl is part of the answer');
    assert.equal((await get()).etag, last.etag);
  });

  it('is not compared for a caller who may not read the thread', async () => {
    const { etag } = await get();
    await world.store.setThreadPublished(ada.organizationId, thread.id, false, note());
    const ben = { ...ada, userId: await world.member(ada.organizationId) };
    for (const known of [etag, '*']) {
      await assert.rejects(
        get({ 'if-none-match': known, prefer: 'wait=1' }, undefined, ben),
        /No such thread/,
      );
      assert.equal(loads, 0);
    }
  });

  it('is compared again after a wait, without loading a message', async () => {
    const { store } = world;
    const reply = { organizationId: ada.organizationId, threadId: thread.id };
    const followUp = newFollowUp();
    await store.addReply(ada.organizationId, thread.id, followUp, by(ada.userId));
    const before = await get();
    const waiting = get({ 'if-none-match': before.etag, prefer: 'wait=20' });
    while (replySignals.watched().length === 0) await new Promise(setImmediate);
    assert.equal(loads, 0);
    await store.cancelReplies(reply.organizationId, reply.threadId, operator);
    replySignals.replyEnded({ ...reply, messageId: followUp.replyId });
    const answer = await waiting;
    assert.notEqual(answer.etag, before.etag);
    assert.equal(answer.loads, 1);
    const known = { 'if-none-match': answer.etag, prefer: 'wait=20' };
    assert.deepEqual(await get(known), { body: undefined, etag: answer.etag, loads: 0 });
  });
});
