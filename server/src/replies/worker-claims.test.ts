import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Model, ModelError, scriptedModel } from '../../../answers/src/index.ts';
import { until } from '../../../runtime/testing/until.ts';
import { Accounting } from '../../testing/contract/account-fixture.ts';
import { by, granted, newFollowUp, newThread, note, noteBy } from '../../testing/contract/fixture.ts';
import {
  ask,
  changeNeeds,
  ended,
  logged,
  needs,
  openUseCases,
  start,
  untilReleased,
  useWorkers,
  watched,
  world,
} from '../../testing/worker-fixture.ts';
import type { AssistantMessage } from '../domain/message.ts';
import type { UserPrincipal } from '../domain/principal.ts';
import { crashesOfSuspect, suspectSlots } from '../domain/reply.ts';
import type { NewThread } from '../storage/port/store.ts';
import { tendReplies } from './tend-replies.ts';

interface Asked {
  readonly thread: NewThread;
  readonly principal: UserPrincipal;
}

describe('The claims of the reply worker', () => {
  useWorkers();

  it('generates no more replies at once than its concurrency, and then the rest', async () => {
    let running = 0;
    let most = 0;
    const model: Model = {
      name: 'counting',
      async *reply({ signal }) {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        signal.throwIfAborted();
        running -= 1;
        yield { type: 'text', text: 'done' };
      },
    };
    const asked = await Promise.all(Array.from({ length: 10 }, () => ask('x')));
    await start(model, { concurrency: 3 });
    for (const { reply } of asked) assert.equal((await until(reply, ended)).status, 'completed');
    assert.ok(most === 2 || most === 3, `${most} at once`);
  });

  it('claims no reply for the slot of a create that starts while the worker asks which replies wait', async () => {
    const waiting = await ask('Next');
    const { store, replySignals } = needs;
    const other = await world.organization();
    const thread = newThread(await world.member(other));
    const creating = Promise.withResolvers<'unauthorized'>();
    let [listed, claims, created] = [0, 0, undefined as Promise<unknown> | undefined];
    const watchedStore: Partial<typeof store> = {
      async organizationsWaiting(...asked) {
        const found = await store.organizationsWaiting(...asked);
        listed += 1;
        created ??= replySignals.worker?.createThread(other, thread, by(thread.userId));
        return found;
      },
      createThread: () => creating.promise,
      claimReplies(...asked) {
        claims += 1;
        return store.claimReplies(...asked);
      },
    };
    changeNeeds({ store: Object.setPrototypeOf(watchedStore, store) });
    const worker = await start(scriptedModel, { concurrency: 1 });
    worker.wake();
    await until(
      async () => listed,
      (count) => count === 2,
    );
    assert.ok(created);
    assert.equal(claims, 0);
    creating.resolve('unauthorized');
    assert.equal(await created, 'unauthorized');
    assert.equal((await until(waiting.reply, ended)).status, 'completed');
  });

  it('releases the reply of a create whose outcome it does not learn', async () => {
    const { store } = needs;
    const lossyStore: Partial<typeof store> = {
      async createThread(...created) {
        await store.createThread(...created);
        throw new Error('The connection broke.');
      },
    };
    changeNeeds({ store: Object.setPrototypeOf(lossyStore, store) });
    const organization = await world.organization();
    const thread = newThread(await world.member(organization));
    const worker = await start();
    await assert.rejects(async () => worker.createThread(organization, thread, by(thread.userId)));
    await untilReleased();
    assert.equal((await store.replyBacklog()).waiting, 1);
    worker.wake();
    const reply = async () =>
      (await store.getThread(organization, thread.id))?.messages[1] as AssistantMessage;
    assert.equal((await until(reply, ended)).status, 'completed');
  });

  it('keeps a slot for others when one organization requests more replies than there are slots', async () => {
    const flooding = await world.organization();
    const flood = await Promise.all(Array.from({ length: 20 }, () => ask('#hang', {}, flooding)));
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    const worker = await start(model, { concurrency: 8 });
    await until(
      async () => seen.begun,
      (count) => count === 4,
    );
    for (let others = 0; others < 5; others += 1) {
      const other = await ask('Promptly');
      worker.wake();
      assert.equal((await until(other.reply, ended)).status, 'completed');
    }
    assert.equal((await flood[0]!.reply()).status, 'in_progress');
    assert.equal(seen.begun, 9);
  });

  it('continues with the replies of a busy organization as others end', async () => {
    const flooding = await world.organization();
    const flood = await Promise.all(Array.from({ length: 30 }, () => ask('x', {}, flooding)));
    await start(scriptedModel, { concurrency: 4 });
    for (const { reply } of flood) assert.equal((await until(reply, ended)).status, 'completed');
  });

  for (const [how, stop] of [
    [
      'deleted',
      ({ principal, thread }: Asked) =>
        openUseCases().threads.remove({ principal, initiator: noteBy(principal.userId) }, thread.id),
    ],
    ['stopped', ({ principal, thread }: Asked) => openUseCases().replies.cancel(principal, thread.id)],
  ] as const) {
    it(`aborts the model at once when the thread is ${how}, and keeps the text so far`, async () => {
      const asked = await ask('#say Half\n#hang');
      const { seen, model } = watched((request) => scriptedModel.reply(request));
      await start(model, { concurrency: 1 });
      await until(asked.reply, ({ content }) => content === 'Half');
      await stop(asked);
      assert.equal(seen.aborted, 1);
      const { status, content } = await asked.reply();
      assert.deepEqual([status, content], ['cancelled', 'Half']);
      // The slot is free again.
      const next = await ask('Next');
      needs.replySignals.replyWaiting();
      assert.equal((await until(next.reply, ended)).status, 'completed');
      assert.deepEqual(logged, []);
    });
  }

  it('continues a reply that a former member tries to stop', async () => {
    const asked = await ask('#say Half\n#hang');
    await start();
    await until(asked.reply, ({ content }) => content === 'Half');
    const { organization, principal, thread } = asked;
    const people = new Accounting(world);
    const authority = await people.enter(organization, principal.userId);
    const { email } = (await world.store.findMemberById(organization, principal.userId))!;
    await people.add(await world.organization(), email);
    await world.store.removeMember(organization, email, false, note());
    const former = { ...principal, authority };
    await assert.rejects(openUseCases().replies.cancel(former, thread.id), { code: 'NOT_FOUND' });
    assert.equal((await asked.reply()).status, 'in_progress');
  });

  it('aborts replies that other processes ended', async () => {
    const asked = await ask('#hang');
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model);
    await until(async () => seen.begun, Boolean);
    const elsewhere = await world.node();
    await elsewhere.deleteThread(asked.organization, asked.thread.id, noteBy(asked.thread.userId));
    await tendReplies(needs, 0);
    assert.equal(seen.aborted, 1);
  });

  it('does not wait for a model that ignores the abort', async () => {
    const asked = await ask('x');
    const { seen, model } = watched(async function* () {
      await new Promise(() => {});
      yield { type: 'text', text: 'never' };
    });
    const worker = await start(model);
    await until(async () => seen.begun, Boolean);
    await worker.stop();
    assert.equal((await asked.reply()).status, 'in_progress');
    assert.equal((await world.claim(1000)).length, 1);
  });

  it('renews its leases while the model works', async () => {
    const { reply } = await ask('#hang');
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model, { leaseMs: 60 });
    await until(async () => seen.begun, Boolean);
    for (let round = 0; round < 5; round += 1) {
      world.clock.pass(40);
      await new Promise((resolve) => setTimeout(resolve, 40));
      await tendReplies(needs, round);
    }
    assert.deepEqual([seen.begun, seen.aborted], [1, 0]);
    assert.equal((await reply()).status, 'in_progress');
  });

  it('logs once per outage that it cannot renew its leases', async () => {
    let [isDown, tries] = [true, 0];
    const { store } = needs;
    const renewReplies: typeof store.renewReplies = async (...leases) => {
      tries += 1;
      if (isDown) throw new Error('The disk is full.');
      return store.renewReplies(...leases);
    };
    changeNeeds({ store: Object.assign(Object.create(store), { renewReplies }) });
    await ask('#hang');
    await start(scriptedModel, { leaseMs: 30 });
    const reports = () => logged.filter((line) => line.startsWith('failed to renew leases')).length;
    for (const outage of [1, 2]) {
      isDown = true;
      const before = tries;
      await until(
        async () => tries - before,
        (failed) => failed >= 4,
      );
      assert.equal(reports(), outage);
      isDown = false;
      const renewed = tries;
      await until(
        async () => tries - renewed,
        (count) => count >= 2,
      );
    }
  });

  it('aborts a reply that it lost to another worker, and writes nothing of it', async () => {
    const { reply } = await ask('#say Old\n#hang');
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model, { leaseMs: 90 });
    await until(reply, ({ content }) => content === 'Old');
    // The worker may renew its lease between the two calls.
    const stolen = await until(async () => {
      world.clock.pass(100);
      await world.store.sweepReplies({ leases: true });
      return (await world.claim(60_000))[0]!;
    }, Boolean);
    await until(async () => seen.aborted, Boolean);
    const done = { status: 'completed', content: 'New', steps: [], sources: null, model: 'm' } as const;
    assert.equal(await world.store.settleReply(stolen, done), true);
    assert.equal((await reply()).content, 'New');
  });

  it('restarts the replies of a dead worker without waiting for their leases', async () => {
    const { reply } = await ask('Orphan');
    assert.equal((await world.claim(60_000)).length, 1);
    await start();
    assert.equal((await until(reply, ended)).status, 'completed');
  });

  it('gives the model the conversation up to the prompt', async () => {
    const { organization, thread, reply } = await ask('First');
    const conversations: string[][] = [];
    const { model } = watched(async function* ({ conversation }) {
      conversations.push(conversation.map(({ role, content }) => `${role}: ${content}`));
      if (conversations.length === 2) throw new ModelError('It fails once.', { transient: false });
      yield { type: 'text', text: 'done' };
    });
    const worker = await start(model);
    await until(reply, ended);
    for (const content of ['Second', null]) {
      const { ids, store } = needs;
      const prompt = content === null ? null : { messageId: ids.message(), content };
      const asked = newFollowUp({ prompt, replyId: ids.message() });
      const added = granted(await store.addReply(organization, thread.id, asked, by(thread.userId)));
      assert.equal(added.outcome, 'added');
      worker.wake();
      await until(
        async () => (await store.getThread(organization, thread.id))?.messages.at(-1) as AssistantMessage,
        (last) => last.id === asked.replyId && ended(last),
      );
    }
    const second = ['user: First', 'assistant: done', 'user: Second'];
    assert.deepEqual(conversations, [['user: First'], second, second]);
  });

  it('releases unfinished replies when it stops, and another worker restarts them', async () => {
    const { reply } = await ask('#say Half\n#wait 300\n#say Half');
    const first = await start();
    await until(reply, ({ content }) => content === 'Half');
    await first.stop();
    const handedBack = await reply();
    assert.equal(handedBack.status, 'in_progress');
    await start();
    assert.equal((await until(reply, ended)).content, 'HalfHalf');
  });

  describe('with suspects', () => {
    /** A reply whose worker has crashed twice. */
    async function askSuspect(prompt: string) {
      const asked = await ask(prompt);
      for (let crashes = 0; crashes < crashesOfSuspect; crashes += 1) {
        const [claim] = await world.claim(60_000);
        await world.store.releaseReply(claim!, 'crash');
      }
      return asked;
    }

    it('lets the model for suspects write them, two at once', async () => {
      const hanging = [];
      for (let place = 0; place < 3; place += 1) hanging.push(await askSuspect('#hang'));
      const { seen, model } = watched((request) => scriptedModel.reply(request));
      const usual: Model = { name: 'usual', reply: () => assert.fail('no suspect is written here') };
      const worker = await start(usual, {}, model);
      await until(
        async () => seen.begun,
        (count) => count === suspectSlots,
      );
      worker.wake();
      const stopped = hanging[0]!;
      await openUseCases().replies.cancel(stopped.principal, stopped.thread.id);
      await until(
        async () => seen.begun,
        (count) => count === suspectSlots + 1,
      );
    });

    it('does not let other replies wait for them', async () => {
      for (let place = 0; place < 2 * suspectSlots; place += 1) await askSuspect('#hang');
      const worker = await start(scriptedModel, { concurrency: 2 });
      for (let others = 0; others < 3; others += 1) {
        const other = await ask('Promptly');
        worker.wake();
        assert.equal((await until(other.reply, ended)).status, 'completed');
      }
    });

    it('counts an attempt of a suspect only when its process has ended and this one has not', async () => {
      const { reply } = await askSuspect('x');
      let begun = 0;
      const dying: Model = {
        name: 'dying',
        reply() {
          begun += 1;
          throw new ModelError('The process ended.', { transient: true });
        },
      };
      const worker = await start(scriptedModel, { attemptsMax: 2 }, dying);
      await untilReleased();
      await until(async () => logged.length, Boolean);
      await untilReleased();
      world.clock.pass(30_000);
      worker.wake();
      assert.equal((await until(reply, ended)).status, 'failed');
      assert.deepEqual([begun, logged], [2, ['retrying reply', 'reply failed']]);
    });
  });

  it('makes suspects of its replies when it stops twice because of an uncaught error', async () => {
    const { thread } = await ask('#hang');
    for (let errors = 0; errors < crashesOfSuspect; errors += 1) {
      const { seen, model } = watched((request) => scriptedModel.reply(request));
      const worker = await start(model);
      await until(async () => seen.begun, Boolean);
      await worker.stop('crash');
    }
    assert.deepEqual(await world.claim(1000), []);
    const [claim] = await world.claim(1000, 1, world.store, 'suspects');
    assert.deepEqual([claim?.messageId, claim?.attempts], [thread.replyId, 0]);
  });
});
