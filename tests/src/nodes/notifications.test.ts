import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { listFaults, Nodes } from '../../harness/nodes/nodes.ts';
import { HeldRequests } from '../../harness/replies/held-requests.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { createThread } from '../../harness/world/world.ts';

/** Two notices, each batched for 20 ms. With polling alone, five times a second, each ask takes about 200 ms. */
const promptMs = 150;
/** Retried, because the machine may be busy. */
const rounds = 10;

describe('Replies between nodes with separate roles', () => {
  let nodes: Nodes;
  let client: pg.Client;
  let door: Service;
  let otherDoor: Service;
  let worker: Service;
  let held: HeldRequests;
  before(async () => {
    nodes = await Nodes.prepare();
    client = new pg.Client({ connectionString: nodes.databaseUrl });
    await client.connect();
    [door, otherDoor, worker] = await Promise.all([
      nodes.start('api'),
      nodes.start('api'),
      nodes.start('worker'),
    ]);
    held = new HeldRequests(otherDoor, nodes.adaKey);
    await listening();
  });
  after(async () => {
    await client?.end();
    await nodes?.end();
  });

  const listeners = async (): Promise<number> => {
    const { rows } = await client.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'skein notices'
        AND query LIKE 'LISTEN%' AND state = 'idle'`,
    );
    return rows.length;
  };
  const listening = () => eventually(listeners, (count) => count === 3);
  const cutOffListeners = () =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'skein notices'`,
    );

  /** The time from the request at one node to the response at another, with the reply written by a third. */
  async function askAcross(place: number): Promise<number> {
    const began = performance.now();
    const { thread } = await createThread(nodes.ada(door), { prompt: `#say Reply ${place}.` });
    const { status, body } = await held.hold(thread.id, 20);
    assert.deepEqual([status, body.messages[1].content], [200, `Reply ${place}.`]);
    return performance.now() - began;
  }

  async function measureQuarterMs(asks: number): Promise<number> {
    const took: number[] = [];
    for (let place = 0; place < asks; place += 1) took.push(await askAcross(place));
    return took.sort((a, b) => a - b)[asks / 4]!;
  }

  it('start and are reported at once, without polling', async (t) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds && best >= promptMs; round += 1) {
      best = Math.min(best, await measureQuarterMs(20));
    }
    t.diagnostic(`a quarter of them took less than ${Math.round(best)} ms`);
    assert.ok(best < promptMs, `a quarter of them took more than ${best} ms`);
  });

  it('are written and reported later while notifications are lost, and the nodes reconnect by themselves', async (t) => {
    let cutting = true;
    const cut = (async () => {
      while (cutting) {
        await cutOffListeners();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await eventually(listeners, (count) => count === 0);
    t.diagnostic(`a quarter of them took less than ${Math.round(await measureQuarterMs(8))} ms`);
    cutting = false;
    await cut;
    await listening();
    for (const service of [door, otherDoor, worker]) assert.deepEqual(listFaults(service), []);
    for (const service of [door, otherDoor, worker]) assert.equal(await service.end(), 0);
  });
});
