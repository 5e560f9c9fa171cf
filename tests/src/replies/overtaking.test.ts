import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Api } from '../api.ts';
import { sendMany } from '../load.ts';
import { type ModelServer, startModelServer } from '../model-server.ts';
import { createThread } from '../world.ts';
import { Observations } from './observations.ts';
import { eventually, SharedStore } from './shared-store.ts';

const count = 12;
/** What each of the two workers makes of the same prompt: the one follows the script, the other asks a provider. */
const prompt = ['#step One', '#say First, ', '#wait 1500', '#say and still first.', '#step Two', '!drip 120'];
const ofSecond = { content: 'The documents do not say.', model: 'openai-compatible/second' };

describe('Two workers on one store', () => {
  let store: SharedStore;
  let provider: ModelServer;
  after(async () => {
    await store.killAll();
    await provider.close();
  });

  it('keep apart: one that slept past its lease cannot touch what the other took over', {
    timeout: 60_000,
  }, async () => {
    store = await SharedStore.prepare({ SKEIN_REPLY_LEASE_MS: '600' });
    provider = await startModelServer();
    const [door, first] = await Promise.all([store.start('api'), store.start('worker')]);
    await store.allowMany(door);
    const api = store.as('ada', door);
    const ids = await sendMany(count, count, async () => {
      return (await createThread(api, { prompt: prompt.join('\n') })).thread.id as string;
    });
    await eventually(
      () => repliesOf(api, ids),
      everyOne(({ content }) => content === 'First, '),
    );
    first.signal('SIGSTOP');

    const second = await store.start('worker', {
      SKEIN_MODEL: ofSecond.model,
      SKEIN_MODEL_BASE_URL: provider.url,
    });
    await eventually(
      () => repliesOf(api, ids),
      everyOne(({ content }) => /^The\b/.test(content)),
    );
    first.signal('SIGCONT');

    const seen = new Observations();
    await seen.untilAllEnded(
      api,
      ids.map((threadId) => ({ threadId, whole: ofSecond.content })),
    );
    for (const { status, content, model, steps } of await repliesOf(api, ids)) {
      assert.deepEqual({ status, content, model }, { status: 'completed', ...ofSecond });
      assert.ok(!JSON.stringify(steps).includes('One'), 'no step of the first is left');
    }
    assert.equal(await second.end(), 0);
    await assertWorks(api, 'scripted');
    // By now the first has long tried to write what it had in hand.
    await seen.lookAt(
      api,
      ids.map((threadId) => ({ threadId, whole: ofSecond.content })),
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

async function repliesOf(api: Api, ids: readonly string[]): Promise<any[]> {
  return Promise.all(ids.map(async (id) => (await api.get(id)).body.messages[1]));
}

function everyOne(holds: (reply: any) => boolean): (replies: readonly any[]) => boolean {
  return (replies) => replies.every(holds);
}

/** New replies are written, and by the one that is left. */
async function assertWorks(api: Api, model: string): Promise<void> {
  const { thread } = await createThread(api, { prompt: '#say Awake.' });
  const { messages } = await api.untilDone(thread.id);
  assert.deepEqual([messages[1].content, messages[1].model], ['Awake.', model]);
}
