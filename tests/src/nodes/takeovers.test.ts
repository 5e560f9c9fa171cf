import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sendMany } from '../../harness/http/load.ts';
import { listFaults, Nodes } from '../../harness/nodes/nodes.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import { assertFails, createThread } from '../../harness/world/world.ts';

const count = 12;
/** One worker follows the script, the other asks a provider. The first takes long enough to be stopped halfway. */
const prompt = ['#step One', '#say First, ', '#wait 8000', '#say and still first.', '#step Two', '!drip 120'];
const ofSecond = { content: 'The documents do not say.', model: 'openai-compatible/second' };
/** Far less than the model call would take, and enough for a busy machine. */
const promptlyMs = 15_000;

describe('Workers on several nodes', () => {
  let nodes: Nodes;
  let provider: ModelServer;
  before(async () => {
    [nodes, provider] = await Promise.all([
      Nodes.prepare({ SKEIN_REPLY_LEASE_MS: '600' }),
      startModelServer(),
    ]);
  });
  after(async () => {
    await nodes?.end();
    await provider?.close();
  });
  const asking = () => ({ SKEIN_MODEL: ofSecond.model, SKEIN_MODEL_BASE_URL: provider.url });

  it('do not interfere: a worker that slept past its lease cannot change a reply that another took over', {
    timeout: 180_000,
  }, async () => {
    const [door, first] = await Promise.all([nodes.start('api'), nodes.start('worker')]);
    const api = nodes.ada(door);
    const ids = await sendMany(count, count, async () => {
      return (await createThread(api, { prompt: prompt.join('\n') })).thread.id as string;
    });
    await api.until(ids.at(-1)!, ({ messages }) => messages[1].content !== '');
    // A worker that is suspended in the middle of a statement blocks only the reply that it writes, whose lease also
    // expires.
    first.signal('SIGSTOP');
    const started = await api.replies(ids);
    const taken = ids.filter((_, place) => started[place].completedAt === null);
    assert.ok(started.some(({ content, completedAt }) => content === 'First, ' && completedAt === null));

    const second = await nodes.start('worker', asking());
    await eventually(
      () => api.replies(taken),
      (replies) => replies.every(({ content }) => /^The\b/.test(content)),
    );
    first.signal('SIGCONT');
    const asked = taken.map((threadId) => ({ threadId, whole: ofSecond.content }));
    const seen = new Observations();
    await seen.untilAllEnded(api, asked);
    for (const { status, content, model, steps } of await api.replies(taken)) {
      assert.deepEqual({ status, content, model }, { status: 'completed', ...ofSecond });
      assert.ok(!JSON.stringify(steps).includes('One'), 'no step of the first is left');
    }
    assert.equal(await second.end(), 0);
    const { thread } = await createThread(api, { prompt: '#say Awake.' });
    assert.equal((await api.untilDone(thread.id)).messages[1].content, 'Awake.');
    // By now the first worker has tried to write its pending text.
    await seen.lookAt(api, asked);
    for (const node of [door, first]) {
      assert.deepEqual(listFaults(node), []);
      assert.equal(await node.end(), 0);
    }
  });

  it('abort a model call when its thread is deleted at another node, and do not repeat it', {
    timeout: 180_000,
  }, async () => {
    // A worker that loses its lease while the machine is busy would call the model again.
    const longLease = { SKEIN_REPLY_LEASE_MS: '60000' };
    const [door, worker] = await Promise.all([
      nodes.start('api', longLease),
      nodes.start('worker', { ...asking(), ...longLease }),
    ]);
    const api = nodes.ada(door);
    const calls = async (name: string) =>
      (await provider.requests()).filter(({ body }) => JSON.stringify(body.messages).includes(name));
    const abortByDelete = async (name: string, command: string): Promise<void> => {
      const { thread } = await createThread(api, { prompt: `${name}\n${command}` });
      const [call] = await eventually(
        () => calls(name),
        ({ length }) => length > 0,
      );
      assert.equal(call?.closedEarly, false);
      assert.equal((await api.delete(thread.id)).status, 200);
      await eventually(
        () => calls(name),
        (made) => made.every(({ closedEarly }) => closedEarly),
        promptlyMs,
      );
      assertFails(await api.get(thread.id), 'NOT_FOUND');
    };
    await Promise.all([
      abortByDelete('a silent one', '!hang'),
      abortByDelete('one that has started', '!stall'),
    ]);
    const { thread } = await createThread(api, { prompt: 'after that' });
    assert.equal((await api.untilDone(thread.id)).status.state, 'idle');
    for (const name of ['a silent one', 'one that has started']) assert.equal((await calls(name)).length, 1);
    for (const node of [worker, door]) {
      assert.deepEqual(listFaults(node), []);
      assert.equal(await node.end(), 0);
    }
  });
});
