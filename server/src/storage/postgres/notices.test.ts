import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { until } from '../../../../runtime/testing/until.ts';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import type { ReplyNotice, Store } from '../port/store.ts';
import { openPostgresStore } from './open.ts';

describe('Notices between nodes', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let stranger: pg.Client;
  let nodes: [Store, Store];
  const heard: ReplyNotice[] = [];
  before(async () => {
    database = await openTestDatabase();
    nodes = [
      await openPostgresStore(database.url, poolSettings),
      await openPostgresStore(database.url, poolSettings),
    ];
    nodes[1].onNotice((notice) => heard.push(notice));
    stranger = new pg.Client({ connectionString: database.url });
    await stranger.connect();
    await untilReceived({ waiting: true, ended: [] });
  });
  after(async () => {
    await stranger.end();
    for (const node of nodes) await node.close();
    await database.close();
  });

  /** Sends the notice until it arrives, because a node does not announce that it listens. */
  async function untilReceived(notice: ReplyNotice): Promise<void> {
    heard.length = 0;
    for (let round = 0; round < 200 && heard.length === 0; round += 1) {
      await nodes[0].sendNotice(notice);
      await pause(25);
    }
    assert.deepEqual(heard[0], notice);
  }

  it('arrive unchanged, however many replies they name', async () => {
    const ended = Array.from({ length: 120 }, (_, index) => ({
      organizationId: 'org_01m7eyd05msfte94ecv748fq0c',
      threadId: 'thr_01m7eyd43q033s0km8j6392fnj',
      messageId: `msg_${String(index).padStart(26, '0')}`,
    })) as unknown as ReplyNotice['ended'];
    heard.length = 0;
    await nodes[0].sendNotice({ waiting: false, ended });
    await until(() => heard.flatMap((notice) => notice.ended).length >= ended.length);
    assert.deepEqual(
      heard.flatMap((notice) => notice.ended),
      ended,
    );
  });

  it('are ignored when other programs send something else on the channel', async () => {
    heard.length = 0;
    for (const payload of [
      '',
      'nonsense',
      'null',
      '[]',
      '{"from":"x","waiting":true}',
      '{"from":"x","waiting":true,"ended":[1]}',
      '{"from":"x","waiting":true,"ended":[null]}',
      '{"from":"x","waiting":true,"ended":[["a","b"]]}',
      '{"from":"x","waiting":true,"ended":[[1,2,3]]}',
      '{"from":1,"waiting":true,"ended":[]}',
    ]) {
      await stranger.query('SELECT pg_notify($1, $2)', ['skein_replies', payload]);
    }
    await untilReceived({ waiting: true, ended: [] });
  });
});
