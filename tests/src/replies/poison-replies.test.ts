import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service } from '../service.ts';
import { clockOffBy } from '../shifted-clock.ts';
import { createThread } from '../world.ts';
import { SharedStore } from './shared-store.ts';

const attempts = 3;
const failedContent = 'The reply could not be generated. Please try again.';

describe('A reply that kills the process that writes it', () => {
  function prepare(environment: Record<string, string> = {}): Promise<SharedStore> {
    return SharedStore.prepare({ SKEIN_REPLY_ATTEMPTS: String(attempts), ...environment });
  }

  /** A thread whose reply kills the process. */
  async function askAndCrash(store: SharedStore, service: Service, prompt: string): Promise<string> {
    const { thread } = await createThread(store.as('ada', service), { prompt });
    assert.equal(await service.exit(), 'SIGKILL');
    return thread.id;
  }

  it(`fails after ${attempts} crashes, and does not block other replies`, { timeout: 60_000 }, async () => {
    const store = await prepare();
    const door = await store.start('api');
    const id = await askAndCrash(store, await store.start(), '#step Reading\n#crash');
    for (let deaths = 2; deaths <= attempts; deaths += 1) {
      assert.equal((await store.as('ada', door).get(id)).body.status.state, 'in_progress');
      assert.equal(await startAndCrash(store), 'SIGKILL');
    }
    const service = await store.start();
    const api = store.as('ada', service);
    const { status, messages } = await api.untilDone(id);
    assert.deepEqual([status.state, messages[1].content], ['error', failedContent]);
    const { thread } = await createThread(api, { prompt: '#say Alive.' });
    assert.equal((await api.untilDone(thread.id)).messages[1].content, 'Alive.');
    const events = await service.skein('audit', store.made.acme);
    const noted = events.filter(({ action }: { action: string }) => action === 'reply.failed');
    assert.match(noted[0].detail.reason, /died/);
    assert.equal(noted.length, 1);
    assert.equal(await service.end(), 0);
    assert.equal(await door.end(), 0);
  });

  it('is completed when a later attempt survives', { timeout: 60_000 }, async () => {
    const store = await prepare();
    const id = await askAndCrash(store, await store.start(), '#crash 2\n#say Survived.');
    const service = await store.start();
    const { messages } = await store.as('ada', service).untilDone(id);
    assert.deepEqual([messages[1].status, messages[1].content], ['completed', 'Survived.']);
    assert.equal(await service.end(), 0);
  });

  it('is not started again after its deadline', { timeout: 60_000 }, async () => {
    const store = await prepare({ SKEIN_REPLY_DEADLINE_MS: '60000' });
    const id = await askAndCrash(store, await store.start(), '#crash');
    // It would kill this process, too.
    const service = await store.start('all', clockOffBy(3_600_000));
    const { status, messages } = await store.as('ada', service).untilDone(id);
    assert.deepEqual([status.state, messages[1].content], ['error', failedContent]);
    assert.equal(await service.end(), 0);
  });
});

/** The process may die before it is ready. */
async function startAndCrash(store: SharedStore): Promise<unknown> {
  try {
    return await (await store.start('worker')).exit();
  } catch (error) {
    // No exit code: a signal ended it.
    assert.match((error as Error).message, /ended with null/);
    return 'SIGKILL';
  }
}
