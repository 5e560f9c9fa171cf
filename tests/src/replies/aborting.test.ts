import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { countRunningReplies, killAllProcesses, SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import { assertFails, createThread } from '../../harness/world/world.ts';

/** The guarantee is one second; the rest is for a busy machine. */
const promptlyMs = 2500;

describe('Deleting a thread whose reply is being written', { concurrency: true }, () => {
  let provider: ModelServer;
  before(async () => {
    provider = await startModelServer();
  });
  after(async () => {
    await killAllProcesses();
    await provider.close();
  });

  const prepare = () =>
    SharedStore.prepare({ SKEIN_MODEL: 'openai-compatible/any', SKEIN_MODEL_BASE_URL: provider.url });

  const callsWith = async (prompt: string) =>
    (await provider.requests()).filter(({ body }) => JSON.stringify(body.messages).includes(prompt));

  /** A thread whose model call has started and never ends by itself. */
  const beginCall = async (api: Api, name: string, command: string): Promise<string> => {
    const { thread } = await createThread(api, { prompt: `${name}\n${command}` });
    const [call] = await eventually(
      () => callsWith(name),
      (calls) => calls.length > 0,
    );
    assert.equal(call?.closedEarly, false);
    return thread.id;
  };

  const deleteAborts = async (api: Api, name: string, command: string): Promise<void> => {
    const id = await beginCall(api, name, command);
    assert.equal((await api.delete(id)).status, 200);
    await eventually(
      () => callsWith(name),
      (calls) => calls.every(({ closedEarly }) => closedEarly),
      promptlyMs,
    );
    assertFails(await api.get(id), 'NOT_FOUND');
  };

  it('aborts its own model call within a second, and no other', async () => {
    const store = await prepare();
    const service = await store.start();
    const api = store.as('ada', service);
    const other = await createThread(api, { prompt: 'unhurried\n!drip 150' });
    await Promise.all([deleteAborts(api, 'silent here', '!hang'), deleteAborts(api, 'begun here', '!stall')]);
    const { messages } = await api.untilDone(other.thread.id);
    assert.deepEqual([messages[1].status, messages[1].content], ['completed', 'The documents do not say.']);
    assert.equal(await service.end(), 0);
  });

  it('aborts it within a second in another process as well, and does not ask the model again', async () => {
    const store = await prepare();
    const [door, worker] = await Promise.all([store.start('api'), store.start('worker')]);
    const api = store.as('ada', door);
    await Promise.all([
      deleteAborts(api, 'silent there', '!hang'),
      deleteAborts(api, 'begun there', '!stall'),
    ]);
    const calls = (await callsWith(' there')).length;
    assert.equal(await countRunningReplies(door), 0);
    assert.equal(await worker.end('SIGKILL'), 'SIGKILL');
    const next = await store.start('worker');
    const { thread } = await createThread(api, { prompt: 'after the restart' });
    assert.equal((await api.untilDone(thread.id)).status.state, 'idle');
    assert.equal((await callsWith(' there')).length, calls);
    for (const process of [next, door]) assert.equal(await process.end(), 0);
  });
});
