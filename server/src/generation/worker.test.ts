import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { AssistantMessage } from '../domain/message.ts';
import { failedReplyContent } from '../domain/reply.ts';
import { newThread, World } from '../storage/contract/fixture.ts';
import { openSqliteStore } from '../storage/sqlite/open.ts';
import type { NewThread } from '../storage/store.ts';
import type { Model } from './model.ts';
import { scriptedModel } from './models/scripted.ts';
import { ReplyWorker } from './worker.ts';

describe('The reply worker', () => {
  let folder: string;
  let world: World;
  let workers: ReplyWorker[];
  let logged: string[];
  const log = {
    warn: (_: object, text: string) => logged.push(text),
    error: (_: object, text: string) => logged.push(text),
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-worker-'));
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    workers = [];
    logged = [];
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(model: Model = scriptedModel, settings = { concurrency: 4, leaseMs: 60_000 }): ReplyWorker {
    const worker = new ReplyWorker(world.store, model, settings, log, world.clock.now);
    workers.push(worker);
    return worker;
  }
  async function ask(prompt: string, change: Partial<NewThread> = {}) {
    const organization = await world.organization();
    const thread = await world.thread(organization, await world.member(organization), { prompt, ...change });
    const reply = async () =>
      (await world.store.getThread(organization, thread.id))?.messages[1] as AssistantMessage;
    return { organization, thread, reply };
  }
  async function until<T>(read: () => Promise<T>, condition: (value: T) => boolean): Promise<T> {
    for (let round = 0; round < 1000; round += 1) {
      const value = await read();
      if (condition(value)) return value;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`gave up: ${JSON.stringify(await read())}`);
  }
  const ended = ({ completedAt }: AssistantMessage) => completedAt !== null;

  it('writes the replies that waited when it started, and those it is woken for', async () => {
    const before = await ask('Before');
    const worker = start();
    assert.match((await until(before.reply, ended)).content, /Before/);
    const later = await ask('Later');
    worker.wake();
    const { status, content, steps, model } = await until(later.reply, ended);
    assert.equal(status, 'completed');
    assert.match(content, /Later/);
    assert.equal(steps.length, 1);
    assert.equal(model, 'scripted');
  });

  it('misses no reply that is asked for in the very commit in which it claims others', async () => {
    const organization = await world.organization();
    const userId = await world.member(organization);
    const worker = start();
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
    start();
    const half = await until(reply, ({ content }) => content !== '');
    assert.deepEqual(
      [half.status, half.content, half.steps],
      ['in_progress', 'Half ', [{ description: 'One' }]],
    );
    await until(reply, ({ status }) => status === 'corroborating');
    const whole = await until(reply, ended);
    assert.deepEqual([whole.status, whole.content, whole.steps.length], ['completed', 'Half whole', 2]);
  });

  it('fails a reply whose model fails: a neutral sentence for the caller, the reason for the log', async () => {
    const { reply } = await ask('#say Half\n#fail secret reason');
    start();
    const { status, content } = await until(reply, ended);
    assert.deepEqual([status, content], ['failed', failedReplyContent]);
    assert.deepEqual(logged, ['reply failed']);
  });

  it('fails a reply that has not ended by its deadline', async () => {
    const { reply } = await ask('#hang', { replyDeadlineMs: 50 });
    start();
    assert.equal((await until(reply, ended)).status, 'failed');
  });

  it('writes no more than its share at once, and then the rest', async () => {
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
    start(model, { concurrency: 3, leaseMs: 60_000 });
    for (const { reply } of asked) assert.equal((await until(reply, ended)).status, 'completed');
    assert.equal(most, 3);
  });

  it('lets go of a reply that was cancelled, and aborts its model', async () => {
    const { organization, thread, reply } = await ask('#hang');
    let aborted = false;
    const model: Model = {
      name: 'watched',
      async *reply(request) {
        request.signal.addEventListener('abort', () => {
          aborted = true;
        });
        yield* scriptedModel.reply(request);
      },
    };
    start(model, { concurrency: 1, leaseMs: 150 });
    await world.store.deleteThread(organization, thread.id, thread.userId);
    assert.equal((await until(reply, ended)).status, 'cancelled');
    await until(async () => aborted, Boolean);
    assert.deepEqual(logged, []);
  });

  it('hands back what is not finished when it stops, and another begins it anew', async () => {
    const { reply } = await ask('#say Half\n#wait 300\n#say Half');
    const first = start();
    await until(reply, ({ content }) => content === 'Half');
    await first.stop();
    const handedBack = await reply();
    assert.equal(handedBack.status, 'in_progress');
    start();
    assert.equal((await until(reply, ended)).content, 'HalfHalf');
  });
});
