import pg from 'pg';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { World } from './fixture.ts';
import { openTestDatabase, poolSettings } from './postgres-database.ts';

const waitingStatements = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** A world on a separate database, which `operator` can change without the store. */
export async function openPostgresWorld() {
  const database = await openTestDatabase();
  const operator = new pg.Client({ connectionString: database.url });
  await operator.connect();
  // In a deadlock, PostgreSQL ends the statement of the store, which looks for deadlocks first.
  await operator.query("SET deadlock_timeout = '1min'");
  const world = await World.open((clock) => openPostgresStore(database.url, poolSettings, clock));
  const close = async () => {
    await operator.end();
    await world.close();
    await database.close();
  };
  /** Resolves when as many statements wait for locks. */
  const untilWaiting = async (statements = 1) => {
    // Within a transaction, PostgreSQL caches the activity that it read first.
    while ((await operator.query(waitingStatements)).rowCount! < statements)
      await operator.query('SELECT pg_stat_clear_snapshot()');
  };
  return { world, operator, untilWaiting, close };
}
