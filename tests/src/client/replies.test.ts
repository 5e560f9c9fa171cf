import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Skein } from '../../../client/src/index.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { sharedWorld, type World } from '../../harness/world/world.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { type Client, packedClient } from './packed.ts';

describe('Asking', { concurrency: true }, () => {
  let world: World;
  let proxy: FaultyProxy;
  let client: Client;
  before(async () => {
    world = await sharedWorld();
    proxy = await FaultyProxy.start(world.service.baseUrl);
    client = await packedClient();
  });
  after(async () => {
    await proxy.close();
  });

  const threadsAt = (baseUrl: string): Skein['threads'] =>
    new client.Skein({ baseUrl, apiKey: world.adaKey.key, maxRetryDelayMs: 20 }).threads;
  const catchFailure = async (act: Promise<unknown>): Promise<any> =>
    act.then(
      () => assert.fail('it succeeded'),
      (error) => error,
    );

  it('returns the thread, its messages, the reply, its text and its sources', async () => {
    const address = proxy.address();
    const particulars = { title: 'Returns', accountId: 'acct_1', secondaryId: 'opp_1' };
    const prompt = '#say Thirty days.\n#source Refund policy';
    const { thread, messages, reply, text, sources } = await threadsAt(address).ask(prompt, particulars);
    const { title, accountId, secondaryId } = thread;
    assert.deepEqual({ title, accountId, secondaryId }, particulars);
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content]),
      [
        ['user', prompt],
        ['assistant', 'Thirty days.'],
      ],
    );
    assert.deepEqual(reply, messages[1]);
    assert.equal(text, 'Thirty days.');
    assert.deepEqual(
      sources.map((source) => source.title),
      ['Refund policy'],
    );
    const [create, ...looks] = proxy.requestsTo(address);
    assert.deepEqual(Object.keys(JSON.parse(create?.body ?? '')), [
      'prompt',
      'title',
      'accountId',
      'secondaryId',
    ]);
    assert.equal(looks.length, 1, 'the service was asked to wait');
    assert.equal(looks[0]?.headers.prefer, 'wait=20');
    assert.deepEqual((await threadsAt(address).ask('Hello')).sources, []);
  });

  it('reports steps and text while the reply is being written', async () => {
    const shown: string[] = [];
    const seen = new AbortController();
    const show = (text: string) => {
      shown.push(text);
      if (shown.length === 2) seen.abort();
    };
    const asking = threadsAt(world.service.baseUrl).ask('#step Reading\n#say Thirty \n#hang', {
      onStep: ({ description }) => show(description),
      onText: show,
      signal: seen.signal,
    });
    const { threadId } = await catchFailure(asking);
    assert.deepEqual(shown, ['Reading', 'Thirty ']);
    assert.equal((await world.ada.get(threadId)).body.status.state, 'in_progress');
    await world.ada.delete(threadId);
  });

  it('reports each step once, and reads about once a second', async () => {
    const address = proxy.address();
    const steps: string[] = [];
    const texts: string[] = [];
    const script = [
      '#step Reading',
      '#say Thirty ',
      '#wait 1600',
      '#step Comparing',
      '#step Comparing',
      '#say days.',
      '#wait 1600',
      '#step Writing',
    ];
    await threadsAt(address).ask(script.join('\n'), {
      onStep: ({ description }) => steps.push(description),
      onText: (text) => texts.push(text),
    });
    assert.deepEqual(steps, ['Reading', 'Comparing', 'Comparing', 'Writing']);
    assert.deepEqual(texts, [...new Set(texts)]);
    assert.equal(texts.at(-1), 'Thirty days.');
    const looks = proxy.requestsTo(address).slice(1);
    assert.ok(looks.length <= 9, `read ${looks.length} times in 3.2 s`);
    assert.ok(looks.every(({ headers }) => headers.prefer === 'wait=1'));
  });

  it('polls less and less often if the service does not hold reads', async () => {
    const address = proxy.address([], { knowsPrefer: false });
    const { text } = await threadsAt(address).ask('#wait 3000\n#say Late.');
    assert.equal(text, 'Late.');
    const looks = proxy.requestsTo(address).slice(1);
    // 0, 250, 625, 1188, 2031, 3297 ms: six looks. Nine would take 12 s, and twelve without growth 3 s.
    assert.ok(looks.length >= 2 && looks.length <= 9, `read ${looks.length} times in 3 s`);
  });

  it('does not poll in a loop if the service claims to have waited but did not', async () => {
    const address = proxy.address();
    let looks = 0;
    const hasty = new client.Skein({
      baseUrl: address,
      apiKey: world.adaKey.key,
      fetch: async (url, { headers, ...init }) => {
        const sent = new Headers(headers);
        if (init.method === 'GET') looks += 1;
        sent.delete('prefer');
        const answer = await fetch(url, { ...init, headers: sent });
        const received = new Headers(answer.headers);
        received.set('preference-applied', 'wait=20');
        return new Response(await answer.text(), { status: answer.status, headers: received });
      },
    });
    assert.equal((await hasty.threads.ask('#wait 3000\n#say Late.')).text, 'Late.');
    assert.ok(looks >= 2 && looks <= 9, `read ${looks} times in 3 s`);
  });

  it('rejects with the thread if the reply failed or was cancelled', async () => {
    const { threads } = new client.Skein({ baseUrl: world.service.baseUrl, apiKey: world.adaKey.key });
    const texts: string[] = [];
    const failed = await catchFailure(
      threads.ask('#step Trying\n#fail', { onText: (text) => texts.push(text) }),
    );
    assert.ok(failed instanceof client.ReplyFailedError);
    assert.equal(failed.code, 'REPLY_FAILED');
    assert.equal(failed.reply.status, 'failed');
    assert.equal(failed.messages.length, 2);
    assert.equal(failed.threadId, failed.thread.id);
    assert.match(failed.message, new RegExp(`${failed.thread.id} failed: ${failed.reply.content}`));
    assert.deepEqual(texts, [], 'what is said of a failure is no text of the reply');
    // Stopped in the console, which keeps the text so far.
    const stopped = new client.Skein({
      baseUrl: world.service.baseUrl,
      apiKey: world.adaKey.key,
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        const text = (await answer.text()).replace('"status":"failed"', '"status":"cancelled"');
        return new Response(text, { status: answer.status, headers: answer.headers });
      },
    });
    const cancelled = await catchFailure(stopped.threads.ask('#fail'));
    assert.ok(cancelled instanceof client.ReplyFailedError);
    assert.deepEqual([cancelled.code, cancelled.reply.status], ['REPLY_CANCELLED', 'cancelled']);
    assert.match(cancelled.message, /was cancelled$/);
  });

  it('reports the thread when it is aborted, and can continue later', async () => {
    const address = proxy.address();
    const threads = threadsAt(address);
    const aborting = new AbortController();
    const asking = catchFailure(threads.ask('#wait 3000\n#say Still here.', { signal: aborting.signal }));
    await eventually(() => proxy.requestsTo(address).length === 2);
    aborting.abort(new Error('enough'));
    const aborted = await asking;
    assert.ok(aborted instanceof client.AbortedError);
    assert.equal((aborted.cause as Error).message, 'enough');
    assert.match(aborted.message, new RegExp(`${aborted.threadId}`));
    const { text, thread } = await threads.wait(aborted.threadId as string);
    assert.deepEqual([text, thread.id], ['Still here.', aborted.threadId]);
  });

  it('reports the thread when it times out or the service is unreachable', async () => {
    const threads = threadsAt(world.service.baseUrl);
    const late = await catchFailure(threads.ask('#hang', { timeoutMs: 3_000 }));
    assert.ok(late instanceof client.TimeoutError);
    assert.match(late.message, new RegExp(`${late.threadId}`));
    assert.equal((await threads.get(late.threadId as string)).status.state, 'in_progress');
    await threads.delete(late.threadId as string);

    const gone = await catchFailure(
      threadsAt(proxy.address(['pass', ...Array(5).fill('drop')])).ask('Hello'),
    );
    assert.ok(gone instanceof client.ConnectionError);
    assert.equal((await threads.wait(gone.threadId as string)).reply.status, 'completed');
  });

  it('reports the idempotency key of a create with an unknown outcome, so that a retry creates no second thread', async () => {
    const address = proxy.address(['lose the answer', 'hang']);
    const threads = threadsAt(address);
    const body = { accountId: 'acct_unknown' };
    const leaving = new AbortController();
    const asking = catchFailure(threads.ask('Hello', { ...body, signal: leaving.signal }));
    await eventually(() => proxy.hangingAt(address) === 1);
    leaving.abort();
    const lost = await asking;
    assert.equal(lost.code, 'ABORTED');
    assert.equal(lost.threadId, undefined);
    const { thread } = await threads.ask('Hello', { ...body, idempotencyKey: lost.idempotencyKey });
    assert.deepEqual(
      (await world.ada.walk(body)).map(({ id }) => id),
      [thread.id],
    );
  });

  it('continues after failures between reads', async () => {
    const address = proxy.address(['drop', 'pass', 'cut', { status: 500 }, 'drop']);
    assert.equal((await threadsAt(address).ask('#say Here.')).text, 'Here.');
    assert.equal(proxy.requestsTo(address).length, 6);
  });

  it('fails when the thread is deleted while waiting', async () => {
    const threads = threadsAt(world.service.baseUrl);
    const { thread } = await threads.create({ prompt: '#hang' });
    const waiting = catchFailure(threads.wait(thread.id));
    await threads.delete(thread.id);
    const error = await waiting;
    assert.ok(error instanceof client.NotFoundError);
    assert.equal(error.threadId, thread.id);
  });

  it('rejects with an error that a callback throws', async () => {
    const oops = new Error('oops');
    const onStep = () => {
      throw oops;
    };
    assert.equal(await catchFailure(threadsAt(world.service.baseUrl).ask('Hello', { onStep })), oops);
  });
});
