import type pg from 'pg';
import { noStoreFault, otherProgramFault, readMigrations, storeMark } from '../migrations/migrations.ts';
import { unfinishedCopyFault, unfinishedCopyTable } from '../port/archive.ts';
import { begin, type PoolSettings } from './database.ts';
import { applicationName, type Servers, statementMs } from './servers.ts';

/** Arbitrary, but no other program on this database may use the same number. */
const migrationLock = 7_305_301;

/** Backends change with every transaction: after this many rounds, one has served both clients. */
const rounds = 5;
const probe = { name: 'skein-pooler-probe', text: 'SELECT pg_backend_pid() AS pid' };
/** invalid_sql_statement_name, duplicate_prepared_statement. */
const statementErrors = new Set(['26000', '42P05']);

/** Uses a separate connection without timeouts, because a node waits while another one migrates. */
export async function migrate(
  servers: Servers,
  { mustExist, watch }: Pick<PoolSettings, 'mustExist' | 'watch'>,
): Promise<void> {
  const connect = (config?: pg.ClientConfig) =>
    servers.connect({ application_name: applicationName, ...config });
  const client = await connect();
  try {
    await rejectUnfitSettings(client);
    await rejectUnfitPooler(client, () => connect({ statement_timeout: statementMs }));
    await bringUpToDate(client, { mustExist, onWait: watch?.migrationWaits });
    if (await isUnfinished(client)) throw new Error(unfinishedCopyFault);
  } finally {
    await client.end();
  }
}

/** Rejects a database with settings under which the service would start and then fail. */
export async function rejectUnfitSettings(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_setting('server_encoding') AS encoding, current_setting('default_transaction_isolation') AS isolation",
  );
  const { encoding, isolation } = rows[0];
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}: create the database with UTF8`);
  if (isolation !== 'read committed') {
    throw new Error(`default_transaction_isolation is '${isolation}': set it to 'read committed'`);
  }
}

/**
 * Rejects a pooler in transaction mode that does not support prepared statements: the service would start and then fail.
 * A pooler does not announce itself, so this tries it out.
 */
async function rejectUnfitPooler(client: pg.Client, connect: () => Promise<pg.Client>): Promise<void> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  // A pooler gives its clients process ids of its own.
  if (rows[0].pid === (client as pg.Client & { processID: number }).processID) return;
  const other = await connect().catch((error: Error) => {
    if (!/unsupported startup parameter/.test(error.message)) throw error;
    throw new Error(`${error.message}: set ignore_startup_parameters = statement_timeout in PgBouncer`);
  });
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const one of [client, other]) await one.query(probe);
    }
  } catch (error) {
    if (!statementErrors.has((error as pg.DatabaseError).code ?? '')) throw error;
    throw new Error(
      'it is behind a pooler in transaction mode that loses prepared statements: set max_prepared_statements above 0 ' +
        '(PgBouncer 1.21 or newer), or pool_mode = session',
    );
  } finally {
    await other.end();
  }
}

/** Whether a copy is being written into the database, or was interrupted. */
export async function isUnfinished(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('${unfinishedCopyTable}') IS NOT NULL AS found`);
  return rows[0].found;
}

interface MigrationOptions {
  readonly mustExist?: boolean | undefined;
  /** Called if another node is migrating. */
  readonly onWait?: (() => void) | undefined;
  readonly migrations?: ReturnType<typeof readMigrations>;
}

/**
 * Migrates in one transaction, under a lock that all nodes share. Writes nothing if the schema is up to date: then a store
 * can be copied from a standby, and a node can run with a role that has no rights on the schema.
 */
export async function bringUpToDate(
  client: pg.ClientBase,
  { mustExist, onWait, migrations = readMigrations('postgres') }: MigrationOptions = {},
): Promise<void> {
  const found = await schemaVersion(client);
  if (mustExist && found === 0) throw new Error(noStoreFault);
  if (found === migrations.version) return;
  try {
    await client.query(begin);
    const { rows } = await client.query(`SELECT pg_try_advisory_xact_lock(${migrationLock}) AS held`);
    if (!rows[0].held) {
      onWait?.();
      await client.query(`SELECT pg_advisory_xact_lock(${migrationLock})`);
    }
    const version = await schemaVersion(client);
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
    for (const sql of migrations.after(version)) await client.query(sql);
    if (version < migrations.version) {
      await client.query('DELETE FROM schema_version');
      await client.query('INSERT INTO schema_version (version) VALUES ($1)', [migrations.version]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function schemaVersion(client: pg.ClientBase): Promise<number> {
  const { rows: tables } = await client.query(
    `SELECT to_regclass('schema_version') IS NOT NULL AS versioned, to_regclass('${storeMark}') IS NOT NULL AS made`,
  );
  const { versioned, made } = tables[0];
  if (!versioned) return 0;
  // Other programs have a table of this name, too. The migration would replace its rows.
  if (!made) throw new Error(otherProgramFault);
  const { rows } = await client.query('SELECT version FROM schema_version');
  return rows[0]?.version ?? 0;
}
