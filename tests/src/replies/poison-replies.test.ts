import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { signedInAgain } from '../../harness/console/console-client.ts';
import { at, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone, Visitor } from '../../harness/console/visitor.ts';
import { SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { clockOffBy } from '../../harness/service/shifted-clock.ts';
import { createThread } from '../../harness/world/world.ts';

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

  it(`fails after ${attempts} attempts in processes of its own, with its reason, and so does its retry`, {
    timeout: 60_000,
  }, async () => {
    const store = await prepare();
    const door = await store.start('api');
    const id = await askAndCrash(store, await store.start(), '#step Reading\n#crash');
    assert.equal((await store.as('ada', door).get(id)).body.status.state, 'in_progress');
    assert.equal(await startAndCrash(store), 'SIGKILL');
    const service = await store.start();
    const api = store.as('ada', service);
    const { status, messages } = await api.untilDone(id);
    assert.deepEqual([status.state, messages[1].content], ['error', failedContent]);
    const { thread } = await createThread(api, { prompt: '#say Alive.' });
    assert.equal((await api.untilDone(thread.id)).messages[1].content, 'Alive.');
    const sentence = 'The process that wrote the reply ended unexpectedly (SIGKILL).';
    const events = await service.skein('audit', store.made.acme);
    const noted = events.filter(({ action }: { action: string }) => action === 'reply.failed');
    assert.deepEqual(
      noted.map(({ detail }: { detail: { reason: string } }) => detail.reason),
      [sentence],
    );
    const lines = () => service.output.filter((line) => line.includes(sentence));
    const logged = (await eventually(lines, ({ length }) => length === attempts)).map((line) =>
      JSON.parse(line),
    );
    assert.deepEqual(
      logged.map(({ msg }) => msg),
      [...Array(attempts - 1).fill('retrying reply'), 'reply failed'],
    );
    assert.equal(await door.end(), 0);
    // A retry starts with all attempts, and does not put the process at risk again.
    const client = await signedInAgain(service, store.made.acme, 'ada@acme.example');
    const ada = new Visitor(client, store.made.acme);
    const shown = await untilEnded(ada, id);
    assert.deepEqual(
      shown.messages.map(({ failure }: { failure?: string }) => failure),
      [undefined, sentence],
    );
    assertDone(await ada.post(at(id, '/retry')));
    const retried = await untilEnded(ada, id);
    assert.equal(retried.messages[2].failure, sentence);
    // The log is written a moment later.
    await eventually(lines, ({ length }) => length === 2 * attempts);
    assert.equal(await service.end(), 0);
  });

  it('is completed when a later attempt survives, and a clean stop meanwhile costs nothing', {
    timeout: 60_000,
  }, async () => {
    const store = await prepare({ SKEIN_REPLY_ATTEMPTS: '2' });
    const script = '#crash 2\n#say Survived, \n#wait 1500\n#say and ended.';
    const id = await askAndCrash(store, await store.start(), script);
    assert.equal(await startAndCrash(store), 'SIGKILL');
    const stopped = await store.start();
    await store.as('ada', stopped).until(id, ({ messages }) => messages[1].content === 'Survived, ');
    assert.equal(await stopped.end(), 0);
    const service = await store.start();
    const { messages } = await store.as('ada', service).untilDone(id);
    assert.deepEqual([messages[1].status, messages[1].content], ['completed', 'Survived, and ended.']);
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
