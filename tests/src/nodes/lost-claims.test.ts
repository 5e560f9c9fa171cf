import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Nodes } from '../../harness/nodes/nodes.ts';
import { type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import type { Service } from '../../harness/service/service.ts';
import { createThread } from '../../harness/world/world.ts';

const count = 4;
/** Sometimes other activity makes the database sync the claims. Nothing is lost then, so the test tries again. */
const attemptsMax = 20;
/** Replies take seconds, so that even a busy machine sees all of them in progress at once. */
const prompt = ['#say First, ', '#wait 3000', '#say and still first.', '!drip 1000'];
const ofSecond = { content: 'The documents do not say.', model: 'openai-compatible/second' };

describe('A database that lost the claims on replies in a crash', () => {
  let database: PostgresServer;
  let provider: ModelServer;
  let nodes: Nodes;
  let door: Service;
  let first: Service;
  before(async () => {
    // Claims are committed without waiting for the disk, and here the database delays writing them.
    const settings = { wal_writer_delay: '10s', wal_writer_flush_after: '64MB' };
    [database, provider] = await Promise.all([startPostgres({ settings }), startModelServer()]);
    nodes = await Nodes.prepare({}, database.url);
    [door, first] = await Promise.all([nodes.start('api'), nodes.start('worker')]);
  });
  after(async () => {
    await nodes?.end();
    await Promise.all([database?.remove(), provider?.close()]);
  });

  /** Replies that the first worker started, but whose claims the database lost. */
  async function loseClaims(): Promise<string[]> {
    const api = nodes.ada(door);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      first.signal('SIGSTOP');
      const ids: string[] = [];
      for (let place = 0; place < count; place += 1) {
        ids.push((await createThread(api, { prompt: prompt.join('\n') })).thread.id);
      }
      const contents = () =>
        Promise.all(ids.map(async (id) => (await api.get(id)).body.messages?.[1].content));
      first.signal('SIGCONT');
      await eventually(contents, (seen) => seen.every((content) => content === 'First, '));
      first.signal('SIGSTOP');
      await database.kill();
      await database.start();
      const after = await eventually(contents, (seen) => seen.every((content) => content !== undefined));
      if (after.every((content) => content === '')) return ids;
      first.signal('SIGCONT');
      await Promise.all(ids.map((id) => api.untilDone(id)));
    }
    throw new Error('The database kept the claims each time.');
  }

  it('lets only one worker write each reply: a former claim holder is not mistaken for the next one', {
    timeout: 300_000,
  }, async () => {
    const ids = await loseClaims();
    const second = await nodes.start('worker', {
      SKEIN_MODEL: ofSecond.model,
      SKEIN_MODEL_BASE_URL: provider.url,
    });
    const api = nodes.ada(door);
    const replies = () => Promise.all(ids.map(async (id) => (await api.get(id)).body.messages[1]));
    await eventually(replies, (seen) => seen.every(({ content }) => /^The\b/.test(content)));
    assert.ok((await replies()).some(({ completedAt }) => completedAt === null));
    first.signal('SIGCONT');
    await new Observations().untilAllEnded(
      api,
      ids.map((threadId) => ({ threadId, whole: ofSecond.content })),
    );
    for (const { model } of await replies()) assert.equal(model, ofSecond.model);
    for (const node of [second, first, door]) assert.equal(await node.end(), 0);
  });
});
