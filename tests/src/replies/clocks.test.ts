import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { listCrashes } from '../../harness/replies/crashes.ts';
import { type Asked, askForPieces, Observations } from '../../harness/replies/observations.ts';
import { SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { clockOffBy, clockThatLeaps } from '../../harness/service/shifted-clock.ts';
import { createThread } from '../../harness/world/world.ts';

const hourMs = 3_600_000;
/** Asks for slow replies and waits until the last one has started. */
async function askAndAwaitStart(api: Api, name: string): Promise<Asked[]> {
  const asked = await sendMany(12, 1, (place) =>
    askForPieces(
      api,
      ['a', 'b', 'c'].map((part) => `[${name}-${place}-${part}]`),
      300,
    ),
  );
  await api.until(asked.at(-1)!.threadId, ({ messages }) => messages[1].content !== '');
  return asked;
}

function askMany(api: Api): Promise<Asked[]> {
  return sendMany(16, 4, (place) => askForPieces(api, [`[${place}-a]`, `[${place}-b]`], 1500));
}

const hasStarted = ({ body }: { body: any }) => body.messages[1].content !== '';

async function hang(api: Api): Promise<Asked> {
  return { threadId: (await createThread(api, { prompt: '#hang' })).thread.id };
}

describe('A clock that jumps while replies are written', { concurrency: true }, () => {
  it('back and forward by an hour completes every reply and keeps the order of threads', {
    timeout: 600_000,
  }, async () => {
    // Longer than the jumps, so that they do not make a deadline pass.
    const store = await SharedStore.prepare({ SKEIN_REPLY_DEADLINE_MS: String(3 * hourMs) });
    const asked: Asked[] = [];
    const seen = new Observations();
    let service = await store.start();
    asked.push(...(await askAndAwaitStart(store.as('ada', service), 'now')));
    for (const [place, offMs] of [-hourMs, hourMs, 0].entries()) {
      await service.end(place % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      service = await store.start('all', clockOffBy(offMs));
      asked.push(...(await askAndAwaitStart(store.as('ada', service), `jump${place}`)));
    }
    const api = store.as('ada', service);
    await seen.untilAllEnded(api, asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    const listed = (await api.walk({ limit: 100 })).map(({ id }) => id);
    assert.deepEqual(listed, asked.map(({ threadId }) => threadId).reverse());
    assert.equal(await service.end(), 0);
  });

  it('still lets deadlines end replies that hang', { timeout: 600_000 }, async () => {
    const store = await SharedStore.prepare({ SKEIN_REPLY_DEADLINE_MS: '800' });
    let service = await store.start();
    const asked: Asked[] = [];
    const seen = new Observations();
    for (const offMs of [-hourMs, hourMs]) {
      asked.push(await hang(store.as('ada', service)));
      assert.equal(await service.end('SIGKILL'), 'SIGKILL');
      service = await store.start('all', clockOffBy(offMs));
      asked.push(await hang(store.as('ada', service)));
      await seen.untilAllEnded(store.as('ada', service), asked);
    }
    assert.deepEqual(seen.statuses(), ['failed']);
    assert.equal(await service.end(), 0);
  });

  it('forward by an hour fails no reply, in progress or waiting, with two processes on one store', {
    timeout: 600_000,
  }, async () => {
    // The deadline is far shorter than the jump, and there are more replies than slots.
    const store = await SharedStore.prepare({
      ...clockThatLeaps(hourMs),
      SKEIN_REPLY_DEADLINE_MS: '60000',
      SKEIN_REPLY_LEASE_MS: '5000',
      SKEIN_REPLY_CONCURRENCY: '8',
    });
    const services = await Promise.all([store.start('all'), store.start('api')]);
    const api = store.as('ada', services[1]);
    const asked = await askMany(api);
    await eventually(
      async () => (await Promise.all(asked.map(({ threadId }) => api.get(threadId)))).map(hasStarted),
      (started) => started.some(Boolean) && !started.every(Boolean),
    );
    for (const service of services) service.signal('SIGUSR2');
    const seen = new Observations();
    await seen.untilAllEnded(api, asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    const { thread } = await createThread(api, { prompt: 'After the jump' });
    const lastMs = Date.parse(thread.createdAt);
    assert.ok(lastMs - Date.now() > hourMs / 2, `the clock has jumped: ${thread.createdAt}`);
    assert.deepEqual(services.flatMap(listCrashes), [], 'no lease has ended');
    for (const service of services) assert.equal(await service.end(), 0);
  });

  it('in opposite directions in two processes stops neither from working', { timeout: 600_000 }, async () => {
    const store = await SharedStore.prepare({
      SKEIN_REPLY_LEASE_MS: '1000',
      SKEIN_REPLY_DEADLINE_MS: String(3 * hourMs),
    });
    const [behind, ahead] = await Promise.all([
      store.start('all', clockOffBy(-hourMs)),
      store.start('all', clockOffBy(hourMs)),
    ]);
    const asked = (
      await Promise.all([
        askAndAwaitStart(store.as('ada', behind), 'behind'),
        askAndAwaitStart(store.as('ada', ahead), 'ahead'),
      ])
    ).flat();
    const seen = new Observations();
    await Promise.all([behind, ahead].map((service) => seen.untilAllEnded(store.as('ada', service), asked)));
    assert.deepEqual(seen.statuses(), ['completed']);
    for (const service of [ahead, behind]) assert.equal(await service.end(), 0);
  });
});
