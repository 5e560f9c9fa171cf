import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Signals } from '../../../../runtime/src/pure/signals.ts';
import { machineTimers } from '../../../../runtime/src/timers.ts';
import { authorizeWrites } from '../../../testing/authorize-writes.ts';
import { by, createPrincipal, noteBy, type PersonsThread, World } from '../../../testing/contract/fixture.ts';
import { createIdGenerator, type ThreadId } from '../../domain/id.ts';
import type { Message } from '../../domain/message.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { noTelemetry } from '../../domain/telemetry.ts';
import { ReplySignals, reportEnded } from '../../replies/index.ts';
import type { ClaimedReply, ReplyProgress, Store } from '../../storage/port/store.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createThreadChanges, type ThreadChanges } from './change-thread.ts';
import { createThreadFollowing, type ThreadEvent } from './follow-thread.ts';
import { createFollowedThreads, type FollowedThreads, type FollowPace } from './followed-threads.ts';
import { createThreadReads, type ThreadView } from './get-thread.ts';

/** Signals only: the regular poll would come after the test. */
const onSignals: FollowPace = { atMostEveryMs: 0, whileRunningMs: 600_000, whileIdleMs: 600_000 };
const onPolls: FollowPace = { atMostEveryMs: 0, whileRunningMs: 5, whileIdleMs: 5 };

async function collectMessages(parts: ThreadView['parts']): Promise<{ messages: Message[] }> {
  const messages: Message[] = [];
  for await (const part of parts) messages.push(...part);
  return { messages };
}

describe('Following a thread', () => {
  let folder: string;
  let world: World;
  let replySignals: ReplySignals;
  let threadSignals: Signals<ThreadId>;
  let sources: Parameters<typeof createFollowedThreads>[0] & { store: Store };
  let followedThreads: FollowedThreads;
  let changes: ThreadChanges;
  let ada: UserPrincipal;
  let thread: PersonsThread;
  let claim: ClaimedReply;
  let ending: AbortController;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-follow-'));
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    replySignals = new ReplySignals();
    threadSignals = new Signals();
    const watchReply = replySignals.watch.bind(replySignals);
    sources = { store: world.store, watchReply, threadSignals, timers: machineTimers };
    pollAt(onSignals);
    changes = createThreadChanges({
      store: world.store,
      ids: createIdGenerator(Date.now, randomBytes),
      reads: createThreadReads({ store: world.store, followedThreads }),
      threadSignals,
      repliesCancelled: (replies) =>
        reportEnded({ replySignals, telemetry: noTelemetry }, 'cancelled', replies),
      authorize: authorizeWrites(world.store),
    });
    const organizationId = await world.organization();
    ada = await addMember(organizationId, 'ada@acme.example');
    thread = await world.thread(organizationId, ada.userId);
    [claim] = (await world.claim(60_000)) as [ClaimedReply];
    ending = new AbortController();
  });
  afterEach(async () => {
    ending.abort();
    assert.deepEqual(threadSignals.followed(), [], 'nothing is followed any more');
    assert.deepEqual(replySignals.watched(), [], 'nothing is watched any more');
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const byAda = () => ({ principal: ada, initiator: noteBy(ada.userId) });

  async function addMember(
    organizationId: UserPrincipal['organizationId'],
    email = `${Math.random()}@acme.example`,
  ): Promise<UserPrincipal> {
    return createPrincipal(organizationId, await world.member(organizationId, email));
  }
  function pollAt(pace: FollowPace): void {
    followedThreads = createFollowedThreads(sources, pace);
  }
  function follow(principal = ada): AsyncGenerator<ThreadEvent, void> {
    const { store } = sources;
    const reads = createThreadReads({ store, followedThreads });
    const following = createThreadFollowing({ store, reads, followedThreads, timers: machineTimers });
    return following.follow(principal, thread.id, ending.signal);
  }
  async function readNext(events: AsyncGenerator<ThreadEvent, void>): Promise<ThreadEvent> {
    const { value } = await events.next();
    assert.ok(value, 'the stream has ended');
    return value;
  }
  async function nextView(events: AsyncGenerator<ThreadEvent, void>) {
    const event = await readNext(events);
    assert.ok(event.type === 'view', event.type);
    return { ...event.view, ...(await collectMessages(event.parts)) };
  }
  async function write(content: string, ...steps: string[]): Promise<void> {
    const progress: ReplyProgress = {
      status: 'in_progress',
      content,
      steps: steps.map((description) => ({ description })),
    };
    assert.ok(await world.store.recordReplyProgress(claim, progress));
    threadSignals.changed(thread.id);
  }
  async function settle(store: Store = world.store): Promise<void> {
    const result = { status: 'completed', content: 'Whole', steps: [], sources: null, model: 'm' } as const;
    assert.ok(await store.settleReply(claim, result));
  }
  /** Counts the calls of each method of the store. */
  function countStoreCalls(): Map<string, number> {
    const calls = new Map<string, number>();
    const counting = new Proxy(world.store, {
      get: (target, name: keyof Store) => {
        const method = target[name];
        if (typeof method !== 'function') return method;
        return (...parameters: never[]) => {
          calls.set(name, (calls.get(name) ?? 0) + 1);
          return (method as (...all: never[]) => unknown).apply(target, parameters);
        };
      },
    });
    sources.store = counting;
    return calls;
  }
  async function end(events: AsyncGenerator<ThreadEvent, void>): Promise<void> {
    ending.abort();
    assert.deepEqual(await events.next(), { done: true, value: undefined });
  }

  it('starts with the whole thread', async () => {
    await write('Half');
    const events = follow();
    const { thread: shown, messages, mine, createdBy } = await nextView(events);
    assert.deepEqual([shown.id, mine, createdBy], [thread.id, true, 'ada@acme.example']);
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['A prompt', 'Half'],
    );
    const [, reply] = messages;
    assert.equal(reply?.role === 'assistant' && reply.details?.traceId, 'trace');
    await end(events);
  });

  it('sends what was added to a reply since the previous event', async () => {
    const events = follow();
    await nextView(events);
    const additions: unknown[] = [];
    for (const [content, ...steps] of [
      ['', 'One'],
      ['Half', 'One'],
      ['Half and', 'One', 'Two'],
    ]) {
      const next = readNext(events);
      await write(content as string, ...steps);
      const event = await next;
      assert.ok(event.type === 'progress');
      const { reply, stepsFrom, textFrom } = event;
      additions.push([stepsFrom, reply.steps.slice(stepsFrom).length, reply.content.slice(textFrom)]);
    }
    assert.deepEqual(additions, [
      [0, 1, ''],
      [1, 0, 'Half'],
      [1, 1, ' and'],
    ]);
    await end(events);
  });

  it('gives a slow consumer only the newest state', async () => {
    const [slow, quick] = [follow(), follow()];
    await nextView(slow);
    await nextView(quick);
    for (const content of ['a', 'ab', 'abc']) {
      await write(content);
      assert.equal((await readNext(quick)).type, 'progress');
    }
    const event = await readNext(slow);
    assert.ok(event.type === 'progress');
    assert.deepEqual([event.textFrom, event.reply.content], [0, 'abc']);
    await end(slow);
  });

  it('queries the store as often for 50 consumers as for one, and loads no message while nothing changes', async () => {
    const calls = countStoreCalls();
    const countFor = async (consumers: number) => {
      const all = Array.from({ length: consumers }, () => follow());
      await Promise.all(all.map(nextView));
      // One call for each consumer, and one of the poller once it knows that the reply is running.
      while (calls.get('threadVersion')! <= consumers) await setImmediate();
      calls.clear();
      for (let round = 0; round < 5; round += 1) {
        const next = Promise.all(all.map(readNext));
        await write(`Round ${round} for ${consumers}`);
        await next;
      }
      for (let round = 0; round < 5; round += 1) {
        const versions = calls.get('threadVersion') ?? 0;
        threadSignals.changed(thread.id);
        while (calls.get('threadVersion') === versions) await setImmediate();
      }
      const next = Promise.all(all.map(nextView));
      await changes.rename(ada, thread.id, `Renamed for ${consumers}`);
      await next;
      const counted = Object.fromEntries(calls);
      await Promise.all(all.map((events) => events.return()));
      return counted;
    };
    const forOne = await countFor(1);
    assert.deepEqual(forOne, { threadVersion: 11, getThreadHead: 6, listMessages: 1 });
    assert.deepEqual(await countFor(50), forOne);
  });

  it('loads a thread once for consumers that start together', async () => {
    const calls = countStoreCalls();
    const all = Array.from({ length: 50 }, () => follow());
    await Promise.all(all.map(nextView));
    // Consumers that start during a load cannot know how recent it is, so they share a second one.
    assert.ok((calls.get('getThreadHead') ?? 0) <= 2, `${calls.get('getThreadHead')} loads`);
    assert.equal(calls.get('listMessages'), 1);
    await end(all[0]!);
  });

  it('loads messages only as the consumer reads them, and sends the text of one version', async () => {
    const calls = countStoreCalls();
    const events = follow();
    const event = await readNext(events);
    assert.ok(event.type === 'view');
    assert.equal(calls.get('listMessages'), undefined);
    await write('Later');
    const { messages } = await collectMessages(event.parts);
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['A prompt', ''],
    );
    assert.equal((await readNext(events)).type, 'progress');
    await end(events);
  });

  it('stops loading a thread that was deleted or unpublished while it was sent', async () => {
    await changes.publishOwn(byAda(), thread.id, true);
    const events = follow(await addMember(claim.organizationId));
    const event = await readNext(events);
    assert.ok(event.type === 'view');
    await changes.publishOwn(byAda(), thread.id, false);
    assert.deepEqual(await readNext(events), { type: 'gone' });
    await assert.rejects(collectMessages(event.parts), { code: 'NOT_FOUND' });
    await end(events);
  });

  it('sends the whole thread when a reply ends, and when the thread is renamed or published', async () => {
    const events = follow();
    await nextView(events);
    await settle();
    replySignals.replyEnded(claim);
    assert.equal((await nextView(events)).status.state, 'idle');
    await changes.rename(ada, thread.id, 'Another');
    assert.equal((await nextView(events)).thread.title, 'Another');
    await changes.publishOwn(byAda(), thread.id, true);
    assert.equal((await nextView(events)).thread.published, true);
    await end(events);
  });

  it('sees changes of other processes without a notice', async () => {
    const elsewhere = await world.node();
    pollAt(onPolls);
    const events = follow();
    await nextView(events);
    const progress: ReplyProgress = { status: 'in_progress', content: 'Half', steps: [] };
    await elsewhere.recordReplyProgress(claim, progress);
    assert.equal((await readNext(events)).type, 'progress');
    await settle(elsewhere);
    assert.equal((await nextView(events)).status.state, 'idle');
    await elsewhere.renameThread(claim.organizationId, thread.id, 'Another', by(thread.userId));
    assert.equal((await nextView(events)).thread.title, 'Another');
    await end(events);
  });

  it('sends nothing while nothing has changed, however often it is signaled', async () => {
    const events = follow();
    await nextView(events);
    const next = readNext(events);
    for (let round = 0; round < 20; round += 1) {
      threadSignals.changed(thread.id);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await write('News');
    assert.equal((await next).type, 'progress');
    await end(events);
  });

  it('ends with the thread, and for others when it is no longer published', async () => {
    await changes.publishOwn(byAda(), thread.id, true);
    const events = follow();
    const ofOther = follow(await addMember(claim.organizationId));
    const seen = await nextView(ofOther);
    assert.deepEqual([seen.mine, seen.createdBy], [false, 'ada@acme.example']);
    await nextView(events);
    await changes.publishOwn(byAda(), thread.id, false);
    assert.deepEqual(await readNext(ofOther), { type: 'gone' });
    assert.equal((await ofOther.next()).done, true);
    assert.equal((await nextView(events)).thread.published, false);
    await changes.remove(byAda(), thread.id);
    assert.deepEqual(await readNext(events), { type: 'gone' });
    assert.equal((await events.next()).done, true);
  });

  it('retries when the store does not respond', async () => {
    pollAt(onPolls);
    const events = follow();
    await nextView(events);
    let refused = 0;
    const { store } = world;
    const failing: Pick<Store, 'getThreadHead'> = {
      getThreadHead: (...asked) => {
        refused += 1;
        return refused <= 3 ? Promise.reject(new Error('gone for now')) : store.getThreadHead(...asked);
      },
    };
    sources.store = Object.assign(Object.create(store), failing);
    await write('Half');
    assert.equal((await readNext(events)).type, 'progress');
    assert.ok(refused > 3);
    await end(events);
  });

  it('is rejected if the thread cannot be read, and releases it', async () => {
    const stranger = await addMember(claim.organizationId);
    await assert.rejects(readNext(follow(stranger)), { code: 'NOT_FOUND' });
    const foreigner = await addMember(await world.organization());
    await assert.rejects(readNext(follow(foreigner)), { code: 'NOT_FOUND' });
  });

  it('ends at once, even while it waits', async () => {
    const events = follow();
    await nextView(events);
    const next = events.next();
    ending.abort();
    assert.equal((await next).done, true);
  });
});
