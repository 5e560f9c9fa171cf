import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import { Database } from './database.ts';
import { Servers } from './servers.ts';
import { StoreTime } from './store-time.ts';

const ownBackend = { name: 'own-backend', text: 'SELECT pg_backend_pid() AS pid' };
const terminate = { name: 'terminate', text: 'SELECT pg_terminate_backend($1, 5000)' };

describe('A connection that breaks between two statements of a transaction', () => {
  let testDatabase: Awaited<ReturnType<typeof openTestDatabase>>;
  let database: Database;
  before(async () => {
    testDatabase = await openTestDatabase();
    database = await Database.open(
      new Servers(testDatabase.url),
      new StoreTime({ steady: () => performance.now() }),
      poolSettings,
    );
  });
  after(async () => {
    await database?.close();
    await testDatabase.close();
  });

  it('fails that transaction only', async () => {
    const broken = database.transaction(async (run) => {
      const [backend] = await run<{ pid: number }>(ownBackend, []);
      await database.run(terminate, [backend!.pid]);
      // An error without a listener would end this process here.
      await pause(50);
      await run(ownBackend, []);
    });
    await assert.rejects(broken, /terminat|not queryable/);
    assert.equal((await database.run(ownBackend, [])).length, 1);
  });
});
