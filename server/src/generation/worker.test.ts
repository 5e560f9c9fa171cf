import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { by, newFollowUp, newThread, note, World } from '../../testing/contract/fixture.ts';
import { createIdGenerator, type OrganizationId, type ThreadId } from '../domain/id.ts';
import type { Limits } from '../domain/limits.ts';
import type { AssistantMessage } from '../domain/message.ts';
import type { UserPrincipal } from '../domain/principal.ts';
import { failedReplyContent } from '../domain/reply.ts';
import { openSqliteStore } from '../storage/sqlite/open.ts';
import type { NewThread } from '../storage/store.ts';
import { ChangeSignals } from '../usecases/change-signals.ts';
import type { Context } from '../usecases/context.ts';
import { personIn } from '../usecases/people/sessions.ts';
import { cancelReply } from '../usecases/replies/cancel-reply.ts';
import { ReplySignals } from '../usecases/replies/reply-signals.ts';
import { failureTexts, tendReplies } from '../usecases/replies/tend-replies.ts';
import { noTelemetry } from '../usecases/telemetry.ts';
import { deleteThread } from '../usecases/threads/change-thread.ts';
import { machineTimers } from '../usecases/timers.ts';
import { type Model, ModelError, type ReplyEvent, type ReplyRequest } from './model.ts';
import { scriptedModel } from './models/scripted.ts';
import { ReplyWorker, type WorkerSettings } from './worker.ts';

interface Asked {
  readonly thread: NewThread;
  readonly principal: UserPrincipal;
}

describe('The reply worker', () => {
  let folder: string;
  let world: World;
  let context: Context;
  let workers: ReplyWorker[];
  let logged: string[];
  const keep = (_: object, text: string) => logged.push(text);
  const log = { info: keep, warn: keep, error: keep };
  const usual = { concurrency: 4, leaseMs: 60_000 };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-worker-'));
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    // Of the context a worker uses these.
    const used = {
      store: world.store,
      ids: createIdGenerator(Date.now, randomBytes),
      now: world.clock.wall,
      timers: machineTimers,
      replySignals: new ReplySignals(),
      threadSignals: new ChangeSignals<ThreadId>(),
      telemetry: noTelemetry,
      limits: { replyAttempts: 3 } as Limits,
    };
    context = used as Partial<Context> as Context;
    workers = [];
    logged = [];
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    assert.deepEqual(context.replySignals.watched(), [], 'nothing is watched any more');
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(
    model: Model = scriptedModel,
    settings: Partial<WorkerSettings> = {},
  ): Promise<ReplyWorker> {
    const worker = await ReplyWorker.start(context, model, { ...usual, ...settings }, log);
    workers.push(worker);
    return worker;
  }
  async function ask(prompt: string, change: Partial<NewThread> = {}, known?: OrganizationId) {
    const organization = known ?? (await world.organization());
    const thread = await world.thread(organization, await world.member(organization), { prompt, ...change });
    const reply = async () =>
      (await world.store.getThread(organization, thread.id))?.messages[1] as AssistantMessage;
    const principal = personIn(organization, thread.userId);
    return { organization, thread, reply, principal };
  }
  /** A model that records when it was started and aborted, and otherwise does what `then` does. */
  function watched(then: (request: ReplyRequest) => AsyncIterable<ReplyEvent>) {
    const seen = { begun: 0, aborted: 0 };
    const model: Model = {
      name: 'watched',
      async *reply(request) {
        seen.begun += 1;
        request.signal.addEventListener('abort', () => {
          seen.aborted += 1;
        });
        yield* then(request);
      },
    };
    return { seen, model };
  }
  async function until<T>(read: () => Promise<T>, condition: (value: T) => boolean): Promise<T> {
    for (let round = 0; round < 1000; round += 1) {
      const value = await read();
      if (condition(value)) return value;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`gave up: ${JSON.stringify(await read())}`);
  }
  /** The line in the log comes before the reply is let go. */
  const letGo = () =>
    until(
      () => world.store.replyBacklog(),
      ({ held }) => held === 0,
    );
  const ended = ({ completedAt }: AssistantMessage) => completedAt !== null;

  it('writes the replies that waited when it started, and those it is woken for', async () => {
    const before = await ask('Before');
    const worker = await start();
    assert.match((await until(before.reply, ended)).content, /Before/);
    const later = await ask('Later');
    worker.wake();
    const { status, content, steps, model } = await until(later.reply, ended);
    assert.equal(status, 'completed');
    assert.match(content, /Later/);
    assert.equal(steps.length, 1);
    assert.equal(model, 'scripted');
  });

  it('misses no reply that is requested while it claims others', async () => {
    const organization = await world.organization();
    const userId = await world.member(organization);
    const worker = await start();
    for (let round = 0; round < 20; round += 1) {
      const thread = newThread(userId);
      worker.wake();
      await world.store.createThread(organization, thread).then(() => worker.wake());
      const reply = async () =>
        (await world.store.getThread(organization, thread.id))?.messages[1] as AssistantMessage;
      assert.equal((await until(reply, ended)).status, 'completed');
    }
  });

  it('shows steps, text and corroboration while the model works', async () => {
    const { reply } = await ask(
      '#step One\n#say Half \n#wait 400\n#step Two\n#corroborate\n#wait 400\n#say whole',
    );
    await start();
    const half = await until(reply, ({ content }) => content !== '');
    assert.deepEqual(
      [half.status, half.content, half.steps],
      ['in_progress', 'Half ', [{ description: 'One', at: world.clock.ms }]],
    );
    await until(reply, ({ status }) => status === 'corroborating');
    const whole = await until(reply, ended);
    assert.deepEqual([whole.status, whole.content, whole.steps.length], ['completed', 'Half whole', 2]);
  });

  it('stores the verdict of a completed reply, and none for a failed one', async () => {
    const verdict = { statements: 1, found: 0, checked: [{ start: 0, end: 4, sources: [] }] };
    const model: Model = {
      name: 'judged',
      async *reply({ conversation }) {
        yield { type: 'text', text: 'Text' };
        yield { type: 'verdict', verdict };
        if (conversation.at(-1)?.content === 'Fail') throw new ModelError('No.', { transient: false });
      },
    };
    const asked = [await ask('Answer'), await ask('Fail')];
    await start(model);
    const kept = asked.map(async ({ organization, thread, reply }) => {
      await until(reply, ended);
      return (await world.store.listReplyDetails(organization, thread.id)).map((one) => one.verdict);
    });
    assert.deepEqual(await Promise.all(kept), [[verdict], [null]]);
  });

  it('fails a reply whose model fails permanently, and logs the reason', async () => {
    const { reply } = await ask('#step One\n#say Half\n#fail secret reason');
    await start();
    const { status, content, steps } = await until(reply, ended);
    const taken = [{ description: 'One', at: world.clock.ms }];
    assert.deepEqual([status, content, steps], ['failed', failedReplyContent, taken]);
    assert.deepEqual(logged, ['reply failed']);
  });

  it('fails a reply whose model throws unexpectedly, and logs it as an error', async () => {
    const { reply, organization, thread } = await ask('x');
    const { model } = watched(() => {
      throw new TypeError('undefined is not a function');
    });
    await start(model);
    assert.equal((await until(reply, ended)).status, 'failed');
    const [origin] = await world.store.listReplyDetails(organization, thread.id);
    assert.match(origin?.failure ?? '', /went wrong/, 'its own words are for the log');
  });

  it('records a failed reply with the trace id of its request', async () => {
    const failed = await ask('#fail', { traceId: 'trace of the failed' });
    await start();
    await until(failed.reply, ended);
    const overdue = await ask('#hang', { traceId: 'trace of the overdue', replyDeadlineMs: 50 });
    world.clock.pass(50);
    await tendReplies(context, 0);
    for (const [{ organization, thread }, reason] of [
      [failed, 'The script says so.'],
      [overdue, failureTexts.overdue],
    ] as const) {
      const { traceId } = thread;
      const written = await world.store.listAudit(organization, { traceId, limit: 10 });
      assert.deepEqual(
        written.map(({ action, subject, actor, detail }) => ({ action, subject, actor, detail })),
        [
          {
            action: 'reply.failed',
            subject: thread.id,
            actor: { kind: 'skein' },
            detail: { reason, message: thread.replyId },
          },
        ],
      );
    }
  });

  it('signals within the process each time that progress is stored', async () => {
    const { reply, thread } = await ask('#say One\n#wait 300\n#say Two\n#wait 300\n#say Three');
    const seen: string[] = [];
    const reading: Promise<void>[] = [];
    const unfollow = context.threadSignals.follow(thread.id, () => {
      reading.push(reply().then(({ content }) => void seen.push(content)));
    });
    await start();
    await until(reply, ended);
    await Promise.all(reading);
    unfollow();
    assert.deepEqual(seen.slice(0, 2), ['One', 'OneTwo']);
  });

  it('retries after a transient failure, from an empty reply', async () => {
    const { reply } = await ask('#step One\n#say Text.\n#retry 3');
    const worker = await start();
    for (const attempts of [1, 2]) {
      await until(
        async () => logged.length,
        (count) => count === attempts,
      );
      await until(reply, ({ content }) => content === '');
      assert.equal((await reply()).status, 'in_progress');
      // The line comes before the reply is let go.
      await until(
        () => world.store.replyBacklog(),
        ({ held }) => held === 0,
      );
      await letGo();
      world.clock.pass(30_000);
      worker.wake();
    }
    const { status, content, steps } = await until(reply, ended);
    const taken = [{ description: 'One', at: world.clock.ms }];
    assert.deepEqual([status, content, steps], ['completed', 'Text.', taken]);
    assert.deepEqual(logged, ['reply will be tried again', 'reply will be tried again']);
  });

  it('gives up after the allowed number of attempts', async () => {
    const { reply } = await ask('#retry 9');
    context = { ...context, limits: { ...context.limits, replyAttempts: 2 } };
    const worker = await start();
    await until(
      async () => logged.length,
      (count) => count === 1,
    );
    await until(
      () => world.store.replyBacklog(),
      ({ held }) => held === 0,
    );
    await letGo();
    world.clock.pass(30_000);
    worker.wake();
    assert.equal((await until(reply, ended)).status, 'failed');
    assert.deepEqual(logged, ['reply will be tried again', 'reply failed']);
  });

  /** Answers how to take the store away, and to bring it back. */
  function storeThatLeaves(): (away: boolean) => void {
    let away = false;
    const store = new Proxy(world.store, {
      get: (target, name) => {
        const method = Reflect.get(target, name);
        return away ? () => Promise.reject(new Error('The store is away.')) : method;
      },
    });
    context = { ...context, store, limits: { ...context.limits, replyAttempts: 1 } };
    return (leaves) => {
      away = leaves;
    };
  }

  for (const [when, script] of [
    ['completed', '#say Half\n#wait 300\n#say whole'],
    ['failed by its model', '#say Half\n#wait 300\n#fail'],
  ]) {
    it(`waits for an unavailable store when a reply is to be ${when}, without counting an attempt`, async () => {
      const setAway = storeThatLeaves();
      const { reply } = await ask(script!);
      await start();
      await until(reply, ({ content }) => content === 'Half');
      setAway(true);
      await until(
        async () => logged,
        (lines) => lines.some((line) => line.includes('store is unavailable')),
      );
      assert.equal((await reply()).status, 'in_progress');
      setAway(false);
      const { status, content } = await until(reply, ended);
      const expected = script!.includes('#fail')
        ? ['failed', failedReplyContent]
        : ['completed', 'Halfwhole'];
      assert.deepEqual([status, content], expected);
    });
  }

  it('stops working on a reply at its deadline while the store is unavailable', async () => {
    const setAway = storeThatLeaves();
    const left: string[] = [];
    const telemetry = { ...noTelemetry, replyLeft: (outcome: string) => left.push(outcome) };
    context = { ...context, telemetry };
    const { reply } = await ask('#say Half\n#wait 300', { replyDeadlineMs: 600 });
    await start();
    await until(reply, ({ content }) => content === 'Half');
    setAway(true);
    await until(
      async () => left,
      ({ length }) => length === 1,
    );
    assert.deepEqual(left, ['stopped']);
    setAway(false);
    assert.equal((await reply()).status, 'in_progress');
    world.clock.pass(600);
    assert.equal((await tendReplies(context, 0)).length, 1);
  });

  it('aborts the model of a reply that is past its deadline', async () => {
    const { reply } = await ask('#hang', { replyDeadlineMs: 50 });
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model);
    await until(async () => seen.begun, Boolean);
    world.clock.pass(50);
    await tendReplies(context, 0);
    assert.equal(seen.aborted, 1);
    const { status, content } = await reply();
    assert.deepEqual([status, content], ['failed', failedReplyContent]);
  });

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

  it('keeps a place for others when one organization requests more than there are', async () => {
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
    ['deleted', (thread: Asked) => deleteThread(context, thread.principal, note(), thread.thread.id)],
    ['stopped', (thread: Asked) => cancelReply(context, thread.principal, thread.thread.id)],
  ] as const) {
    it(`aborts the model at once when the thread is ${how}, and keeps what it had`, async () => {
      const asked = await ask('#say Half\n#hang');
      const { seen, model } = watched((request) => scriptedModel.reply(request));
      await start(model, { concurrency: 1 });
      await until(asked.reply, ({ content }) => content === 'Half');
      await stop(asked);
      assert.equal(seen.aborted, 1);
      const { status, content } = await asked.reply();
      assert.deepEqual([status, content], ['cancelled', 'Half']);
      // The place is free again.
      const next = await ask('Next');
      context.replySignals.replyWaiting();
      assert.equal((await until(next.reply, ended)).status, 'completed');
      assert.deepEqual(logged, []);
    });
  }

  it('aborts replies that other processes ended', async () => {
    const asked = await ask('#hang');
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model);
    await until(async () => seen.begun, Boolean);
    const elsewhere = await world.node();
    await elsewhere.deleteThread(asked.organization, asked.thread.id, by(asked.thread.userId), note());
    await tendReplies(context, 0);
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
      await tendReplies(context, round);
    }
    assert.deepEqual([seen.begun, seen.aborted], [1, 0]);
    assert.equal((await reply()).status, 'in_progress');
  });

  it('aborts a reply that it lost to another worker, and writes nothing of it', async () => {
    const { reply } = await ask('#say Old\n#hang');
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model, { leaseMs: 90 });
    await until(reply, ({ content }) => content === 'Old');
    world.clock.pass(100);
    await world.store.sweepReplies(failureTexts, { attemptsMax: 3, leases: true });
    const [stolen] = await world.claim(60_000);
    assert.ok(stolen);
    await until(async () => seen.aborted, Boolean);
    const done = { status: 'completed', content: 'New', steps: [], sources: null, model: 'm' } as const;
    assert.equal(await world.store.settleReply(stolen, done), true);
    assert.equal((await reply()).content, 'New');
  });

  it('restarts at once the replies of a worker that died here', async () => {
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
      const { ids, store } = context;
      const prompt = content === null ? null : { messageId: ids.message(), content };
      const asked = newFollowUp({ prompt, replyId: ids.message() });
      const added = await store.addReply(organization, thread.id, thread.userId, asked);
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
});
