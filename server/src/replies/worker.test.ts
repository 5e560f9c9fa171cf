import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Model, ModelError, scriptedModel } from '../../../answers/src/index.ts';
import { until } from '../../../runtime/testing/until.ts';
import { by, newThread } from '../../testing/contract/fixture.ts';
import {
  ask,
  changeNeeds,
  ended,
  logged,
  needs,
  start,
  untilReleased,
  useWorkers,
  watched,
  world,
} from '../../testing/worker-fixture.ts';
import type { AssistantMessage } from '../domain/message.ts';
import { failedReplyContent, failureReasons } from '../domain/reply.ts';
import { noTelemetry } from '../domain/telemetry.ts';
import { tendReplies } from './tend-replies.ts';

describe('The reply worker', () => {
  useWorkers();

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
      await world.store.createThread(organization, thread, by(thread.userId)).then(() => worker.wake());
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
      return (await world.replyDetails(organization, thread.id)).map((one) => one.verdict);
    });
    assert.deepEqual(await Promise.all(kept), [[verdict], [null]]);
  });

  it('lists a completed reply of which no statement was found as unanswered', async () => {
    const model: Model = {
      name: 'judged',
      async *reply({ conversation }) {
        yield { type: 'text', text: 'Text' };
        const found = conversation.at(-1)?.content === 'Answer' ? 1 : 0;
        yield { type: 'verdict', verdict: { statements: 1, found, checked: [] } };
      },
    };
    const asked = [await ask('Answer'), await ask('Guess')];
    await start(model);
    const listed = asked.map(async ({ organization, thread, reply }) => {
      await until(reply, ended);
      return (await world.store.listUnanswered(organization, thread.userId, { limit: 5 })).rows.length;
    });
    assert.deepEqual(await Promise.all(listed), [0, 1]);
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
    const [origin] = await world.replyDetails(organization, thread.id);
    assert.match(origin?.failure ?? '', /went wrong/, 'its own words are for the log');
  });

  it('records a failed reply with the trace ID of its request', async () => {
    const failed = await ask('#fail', { traceId: 'trace of the failed' });
    await start();
    await until(failed.reply, ended);
    const overdue = await ask('#hang', { traceId: 'trace of the overdue', replyDeadlineMs: 50 });
    world.clock.pass(50);
    await tendReplies(needs, 0);
    for (const [{ organization, thread }, reason] of [
      [failed, 'The script says so.'],
      [overdue, failureReasons.overdue],
    ] as const) {
      const { traceId } = thread;
      const written = (await world.store.listAudit(organization, { traceId, limit: 10 })).events;
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
    const unfollow = needs.threadSignals.follow(thread.id, () => {
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
      // The line comes before the reply is released.
      await until(
        () => world.store.replyBacklog(),
        ({ held }) => held === 0,
      );
      await untilReleased();
      world.clock.pass(30_000);
      worker.wake();
    }
    const { status, content, steps } = await until(reply, ended);
    const taken = [{ description: 'One', at: world.clock.ms }];
    assert.deepEqual([status, content, steps], ['completed', 'Text.', taken]);
    assert.deepEqual(logged, ['retrying reply', 'retrying reply']);
  });

  it('gives up after the allowed number of attempts', async () => {
    const { reply } = await ask('#retry 9');
    const worker = await start(scriptedModel, { attemptsMax: 2 });
    await until(
      async () => logged.length,
      (count) => count === 1,
    );
    await until(
      () => world.store.replyBacklog(),
      ({ held }) => held === 0,
    );
    await untilReleased();
    world.clock.pass(30_000);
    worker.wake();
    assert.equal((await until(reply, ended)).status, 'failed');
    assert.deepEqual(logged, ['retrying reply', 'reply failed']);
  });

  /** Returns a function that makes the store unavailable, or available again. */
  function breakableStore(): (isUnavailable: boolean) => void {
    let unavailable = false;
    const store = new Proxy(world.store, {
      get: (target, name) => {
        const method = Reflect.get(target, name);
        return unavailable ? () => Promise.reject(new Error('The store is unavailable.')) : method;
      },
    });
    changeNeeds({ store });
    return (isUnavailable) => {
      unavailable = isUnavailable;
    };
  }

  for (const [when, script] of [
    ['completed', '#say Half\n#wait 1000\n#say whole'],
    ['failed by its model', '#say Half\n#wait 1000\n#fail'],
  ]) {
    it(`waits for an unavailable store when a reply is to be ${when}, without counting an attempt`, async () => {
      const setUnavailable = breakableStore();
      const { reply } = await ask(script!);
      await start(scriptedModel, { attemptsMax: 1 });
      await until(reply, ({ content }) => content === 'Half');
      setUnavailable(true);
      await until(
        async () => logged,
        (lines) => lines.some((line) => line.includes('failed to store reply')),
      );
      assert.equal((await reply()).status, 'in_progress');
      setUnavailable(false);
      const { status, content } = await until(reply, ended);
      const expected = script!.includes('#fail')
        ? ['failed', failedReplyContent]
        : ['completed', 'Halfwhole'];
      assert.deepEqual([status, content], expected);
    });
  }

  it('stops working on a reply at its deadline while the store is unavailable', async () => {
    const setUnavailable = breakableStore();
    const left: string[] = [];
    const telemetry = { ...noTelemetry, replyLeft: (outcome: string) => left.push(outcome) };
    changeNeeds({ telemetry });
    const { reply } = await ask('#say Half\n#wait 1000', { replyDeadlineMs: 1500 });
    await start(scriptedModel, { attemptsMax: 1 });
    await until(reply, ({ content }) => content === 'Half');
    setUnavailable(true);
    await until(
      async () => left,
      ({ length }) => length === 1,
    );
    assert.deepEqual(left, ['stopped']);
    setUnavailable(false);
    assert.equal((await reply()).status, 'in_progress');
    world.clock.pass(1500);
    assert.equal((await tendReplies(needs, 0)).failed.length, 1);
  });

  it('aborts the model of a reply that is past its deadline', async () => {
    const { reply } = await ask('#hang', { replyDeadlineMs: 50 });
    const { seen, model } = watched((request) => scriptedModel.reply(request));
    await start(model);
    await until(async () => seen.begun, Boolean);
    world.clock.pass(50);
    await tendReplies(needs, 0);
    assert.equal(seen.aborted, 1);
    const { status, content } = await reply();
    assert.deepEqual([status, content], ['failed', failedReplyContent]);
  });
});
