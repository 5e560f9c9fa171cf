import assert from 'node:assert/strict';
import pg from 'pg';
import { until } from '../../../runtime/testing/until.ts';
import type { OrganizationId } from '../../src/domain/id.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { World } from './fixture.ts';
import { openTestDatabase, poolSettings } from './postgres-database.ts';

const waitingStatements = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

export type PostgresWorld = Awaited<ReturnType<typeof openPostgresWorld>>;

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
  const untilWaiting = (statements = 1) =>
    until(async () => {
      // Within a transaction, PostgreSQL caches the activity that it read first.
      await operator.query('SELECT pg_stat_clear_snapshot()');
      return (await operator.query(waitingStatements)).rowCount! >= statements;
    });
  /** Runs `work` while the operator has locked all rows of the organization in the table. */
  const whileLocked = async (table: string, organization: OrganizationId, work: () => Promise<void>) => {
    await operator.query('BEGIN');
    const { rowCount } = await operator.query(
      `SELECT FROM ${table} WHERE ${table === 'organization' ? 'id' : 'organization_id'} = $1 FOR UPDATE`,
      [organization],
    );
    assert.ok(rowCount! > 0);
    try {
      await work();
    } finally {
      await operator.query('ROLLBACK');
    }
  };
  return { world, operator, untilWaiting, whileLocked, close };
}
