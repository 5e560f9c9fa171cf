import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../runtime/testing/until.ts';
import { ModelError, type ReplyEvent } from '../port/model.ts';
import { isolatedModel } from './isolated-model.ts';

const program = new URL('../../testing/misbehaving-reply.ts', import.meta.url);
const organizationId = 'org_1';
const neverAborted = new AbortController().signal;

function open() {
  let reads = 0;
  return isolatedModel({
    name: 'misbehaving',
    program,
    settings: { greeting: 'Hello' },
    store: {
      findPassages: () => assert.fail('nothing is searched'),
      readPassages: () => assert.fail('nothing is read'),
      async outlineDocuments(organization) {
        reads += 1;
        if (reads === 1) throw new Error('The store is unavailable.');
        return [{ title: `of ${organization}` }] as never;
      },
    },
    traceHeaders: () => ({ traceparent: 'the trace' }),
  });
}

function requestEvents(prompt: string, signal = neverAborted, model = open()): AsyncIterable<ReplyEvent> {
  const conversation = [{ role: 'user', content: prompt } as const];
  return model.reply({ organizationId, accountId: null, conversation, attempt: 1, signal });
}

/** The process id, which the first event names. */
async function begin(events: AsyncIterable<ReplyEvent>) {
  const iterator = events[Symbol.asyncIterator]();
  const { value } = await iterator.next();
  return { iterator, pid: Number((value as { description: string }).description) };
}

const untilGone = (pid: number) =>
  until(
    async () => isAlive(pid),
    (alive) => !alive,
  );

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('A model that writes each reply in its own process', () => {
  before(() => {
    process.env.SKEIN_TEST_SECRET = 'secret';
  });
  after(() => {
    delete process.env.SKEIN_TEST_SECRET;
  });

  it('passes on settings, trace, events and reads, which wait for the store, but no secret', async () => {
    const { iterator, pid } = await begin(requestEvents('greet'));
    assert.notEqual(pid, process.pid);
    const { value } = await iterator.next();
    assert.deepEqual(JSON.parse((value as { text: string }).text), {
      greeting: 'Hello',
      outline: { title: 'of org_1' },
      secrets: [],
      headers: { traceparent: 'the trace' },
    });
    assert.equal((await iterator.next()).done, true);
    await untilGone(pid);
  });

  for (const [prompt, cause] of [
    ['kill', /SIGKILL/],
    ['abort', /SIGABRT|SIGTRAP/],
    ['exit', /exit code 0/],
    ['throw later', /exit code 1/],
    ['fill the heap', /SIGABRT|SIGTRAP/],
    ['fill the memory', /more than 1024 MB of memory/],
  ] as const) {
    it(`fails the reply as transient, and nothing else, when its process ends: ${prompt}`, async () => {
      const { iterator } = await begin(requestEvents(prompt));
      await assert.rejects(iterator.next(), (error) => {
        assert.ok(error instanceof ModelError && error.transient);
        assert.match(error.message, /^The process that wrote the reply ended unexpectedly \(.+\)\.$/);
        assert.match(error.message, cause);
        return true;
      });
    });
  }

  it('fails the reply as its model does', async () => {
    const transient = await begin(requestEvents('fail'));
    const expected = { name: 'ModelError', message: 'No.', transient: true, retryAfterMs: 7 };
    await assert.rejects(transient.iterator.next(), expected);
    const bug = await begin(requestEvents('fail for good'));
    await assert.rejects(bug.iterator.next(), (error) => {
      assert.ok(!(error instanceof ModelError));
      assert.match((error as Error).message, /undefined is not a function/);
      return true;
    });
  });

  for (const prompt of ['hang', 'loop']) {
    it(`kills the process when the reply is aborted: ${prompt}`, async () => {
      const abort = new AbortController();
      const { iterator, pid } = await begin(requestEvents(prompt, abort.signal));
      const next = iterator.next();
      abort.abort(new Error('cancelled'));
      await assert.rejects(next);
      await untilGone(pid);
    });

    it(`has ended every process when it is closed: ${prompt}`, async () => {
      const model = open();
      const { iterator, pid } = await begin(requestEvents(prompt, neverAborted, model));
      const next = assert.rejects(iterator.next());
      await model.close?.();
      assert.equal(isAlive(pid), false);
      await next;
    });

    it(`leaves no process behind when its own is killed: ${prompt}`, async () => {
      const parent = fork(new URL('../../testing/isolating-process.ts', import.meta.url), [prompt], {
        execArgv: [],
      });
      const [pid] = await once(parent, 'message');
      assert.ok(isAlive(pid));
      parent.kill('SIGKILL');
      await untilGone(pid);
    });
  }

  it('outlives a signal to all processes of the service, which its parent handles', async () => {
    const abort = new AbortController();
    const { iterator, pid } = await begin(requestEvents('hang', abort.signal));
    const next = iterator.next();
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGHUP');
    const other = await begin(requestEvents('greet'));
    await other.iterator.return?.();
    assert.ok(isAlive(pid));
    abort.abort(new Error('over'));
    await assert.rejects(next);
  });
});
