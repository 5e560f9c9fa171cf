import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { killAllProcesses, SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import type { Service } from '../../harness/service/service.ts';
import { createThread } from '../../harness/world/world.ts';

const count = 12;
/** The reply of each worker to the same prompt: one follows the script, the other asks a provider. */
const prompt = ['#step One', '#say First, ', '#wait 1500', '#say and still first.', '#step Two', '!drip 120'];
const ofSecond = { content: 'The documents do not say.', model: 'openai-compatible/second' };

describe('Two workers on one store', () => {
  let provider: ModelServer;
  after(async () => {
    await killAllProcesses();
    await provider.close();
  });

  it('do not interfere: a worker that slept past its lease cannot change a reply that another took over', {
    timeout: 60_000,
  }, async () => {
    const store = await SharedStore.prepare({ SKEIN_REPLY_LEASE_MS: '2000' });
    provider = await startModelServer();
    const [door, first] = await Promise.all([store.start('api'), store.start('worker')]);
    await store.allowMany(door);
    const api = store.as('ada', door);
    const ids = await sendMany(count, count, async () => {
      return (await createThread(api, { prompt: prompt.join('\n') })).thread.id as string;
    });
    await api.until(ids.at(-1)!, ({ messages }) => messages[1].content !== '');
    await stopBetweenWrites(first, () => api.rename(ids[0]!, 'Can be written'));
    const started = await api.replies(ids);
    const taken = ids.filter((_, place) => started[place].completedAt === null);
    assert.ok(started.some(({ content, completedAt }) => content === 'First, ' && completedAt === null));

    const second = await store.start('worker', {
      SKEIN_MODEL: ofSecond.model,
      SKEIN_MODEL_BASE_URL: provider.url,
    });
    await eventually(
      () => api.replies(taken),
      (replies) => replies.every(({ content }) => /^The\b/.test(content)),
    );
    first.signal('SIGCONT');

    const seen = new Observations();
    await seen.untilAllEnded(
      api,
      taken.map((threadId) => ({ threadId, whole: ofSecond.content })),
    );
    for (const { status, content, model, steps } of await api.replies(taken)) {
      assert.deepEqual({ status, content, model }, { status: 'completed', ...ofSecond });
      assert.ok(!JSON.stringify(steps).includes('One'), 'no step of the first is left');
    }
    assert.equal(await second.end(), 0);
    await assertWorks(api, 'scripted');
    // By now the first worker has tried to write its pending text.
    await seen.lookAt(
      api,
      taken.map((threadId) => ({ threadId, whole: ofSecond.content })),
    );
    for (const process of [door, first]) {
      assert.deepEqual(
        process.output.filter((line) => line.includes('"level":50')),
        [],
      );
      assert.equal(await process.end(), 0);
    }
  });
});

/** A process that is suspended in the middle of a commit blocks all writers, which is not the subject of this test. */
async function stopBetweenWrites(service: Service, write: () => Promise<unknown>): Promise<void> {
  for (let inTheWay = true; inTheWay; ) {
    inTheWay = false;
    service.signal('SIGSTOP');
    const goOn = setTimeout(() => {
      inTheWay = true;
      service.signal('SIGCONT');
    }, 1000);
    await write();
    clearTimeout(goOn);
  }
}

/** Checks that the remaining worker writes new replies. */
async function assertWorks(api: Api, model: string): Promise<void> {
  const { thread } = await createThread(api, { prompt: '#say Awake.' });
  const { messages } = await api.untilDone(thread.id);
  assert.deepEqual([messages[1].content, messages[1].model], ['Awake.', model]);
}
