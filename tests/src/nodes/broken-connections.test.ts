import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Nodes } from '../../harness/nodes/nodes.ts';
import { Ledger } from '../../harness/replies/ledger.ts';
import { Observations } from '../../harness/replies/observations.ts';

const writers = 6;
const writesMin = 150;
const cutsMin = 12;
/** Long enough for writes to succeed between two cuts. */
const cutEveryMs = 200;

describe('Connections that break one by one under load, while the database stays up', () => {
  let nodes: Nodes | undefined;
  let client: pg.Client | undefined;
  after(async () => {
    await client?.end();
    await nodes?.end();
  });

  it('only fail requests, and no reply loses text', { timeout: 90_000 }, async (t) => {
    nodes = await Nodes.prepare({ SKEIN_REPLY_LEASE_MS: '1000' });
    client = new pg.Client({ connectionString: nodes.databaseUrl });
    await client.connect();
    const service = await nodes.start();
    const api = nodes.ada(service);
    const ledger = new Ledger({ replyMs: 100, storeMayFail: true });
    let cuts = 0;
    const isEnough = () => ledger.acknowledged >= writesMin && cuts >= cutsMin;
    const writing = Promise.all(
      Array.from({ length: writers }, (_, writer) => ledger.write(api, `${writer}`, isEnough)),
    );
    while (!isEnough()) {
      // A connection that is writing at this moment, if there is one.
      const { rows } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'skein' ORDER BY state = 'active' DESC, query LIKE 'UPDATE message%' DESC, random() LIMIT 2`,
      );
      if (rows.length > 0) cuts += 1;
      await pause(cutEveryMs);
    }
    await writing;
    await ledger.retryUnanswered(api);
    await ledger.assertAllThere(api);
    const seen = new Observations();
    await seen.untilAllEnded(api, ledger.asked);
    t.diagnostic(
      `${ledger.acknowledged} acknowledged, ${ledger.failed} failed, ${cuts} cuts of two connections each`,
    );
    assert.deepEqual(seen.statuses(), ['completed']);
    assert.equal(await service.end(), 0);
  });
});
