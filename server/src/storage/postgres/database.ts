import { join } from 'node:path';
import pg from 'pg';
import { unfinishedCopyFault, unfinishedCopyTable } from '../archive.ts';
import { type Migrations, readMigrations } from '../migrations.ts';
import type { StoreWatch } from '../store.ts';
import { WriteHealth } from '../write-health.ts';
import { refuseUnfitPooler } from './pooler.ts';
import { connectMs, type Servers } from './servers.ts';
import type { StoreTime } from './store-time.ts';

/** A text with a name: PostgreSQL parses and plans it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Run = <Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]) => Promise<Row[]>;

export interface PoolSettings {
  readonly connectionsMax: number;
  /** Told of a connection that broke while nobody used it; the pool opens another. */
  readonly onError: (error: Error) => void;
  readonly watch?: Pick<StoreWatch, 'writesFail' | 'writesSucceed'>;
  /** Refuses a database that holds no store yet, instead of making one in it. */
  readonly mustExist?: boolean;
}

/** By it PostgreSQL tells who is connected. */
export const applicationName = 'skein';
const statementMs = 30_000;
const idleMs = 30_000;
/** Any number will do, as long as no other program on this database takes the same. */
const migrationLock = 7_305_301;

export const migrationsFolder = join(import.meta.dirname, 'migrations');

/** Counts, times and sequences stay far below 2^53: they are numbers here. */
export const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as 'text'),
} as pg.CustomTypesConfig;

/** disk_full, io_error, undefined_file, data_corrupted, index_corrupted. A database that cannot be reached is told by any query. */
const diskErrors = new Set(['53100', '58030', '58P01', 'XX001', 'XX002']);
const insufficientPrivilege = '42501';
const readOnlyTransaction = '25006';
const readWritable = {
  name: 'read-writable',
  text: "SELECT current_setting('transaction_read_only') = 'off' AS writable FROM store_clock",
};
/** A small write may find room in pages that are there, when others fail: this one needs 128 KiB of its own. */
const takeRoom = {
  name: 'take-room',
  text: `CREATE TEMPORARY TABLE skein_room ON COMMIT DROP AS
    SELECT repeat(md5(number::text), 32) AS filler FROM generate_series(1, 128) AS number`,
};

export class Database {
  readonly #pool: pg.Pool;
  readonly time: StoreTime;
  readonly health: WriteHealth;

  private constructor(pool: pg.Pool, time: StoreTime, health: WriteHealth) {
    this.#pool = pool;
    this.time = time;
    this.health = health;
  }

  /** Connects and brings the schema up to date; a node that starts meanwhile waits for its turn. */
  static async open(
    servers: Servers,
    time: StoreTime,
    { connectionsMax, onError, watch, mustExist = false }: PoolSettings,
  ): Promise<Database> {
    await migrate(servers, mustExist);
    const pool = new pg.Pool({
      ...servers.poolConfig(),
      max: connectionsMax,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: idleMs,
      statement_timeout: statementMs,
      // The server may be gone without a word: nobody waits for its answer longer than for one that is there.
      query_timeout: statementMs + 5_000,
      keepAlive: true,
      application_name: applicationName,
      types,
    });
    pool.on('error', onError);
    // A connection may break between two statements of a transaction, and an error without a listener ends the process.
    pool.on('connect', (client) => void client.on('error', () => {}));
    return new Database(pool, time, new WriteHealth(watch));
  }

  /** One statement is one transaction and one flight. */
  readonly run: Run = async (statement, values) => {
    try {
      const { rows } = await this.#pool.query({ ...statement, values });
      return rows;
    } catch (error) {
      this.#noteFailure(error as pg.DatabaseError);
      throw error;
    }
  };

  /** For what one statement cannot do. */
  async transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await work(
        async (statement, values) => (await client.query({ ...statement, values })).rows,
      );
      await client.query('COMMIT');
      return result;
    } catch (error) {
      this.#noteFailure(error as pg.DatabaseError);
      broken = await client.query('ROLLBACK').then(
        () => ((error as pg.DatabaseError).code === readOnlyTransaction ? (error as Error) : undefined),
        (fault: Error) => fault,
      );
      throw error;
    } finally {
      // A connection that cannot roll back, or whose server no longer takes writes, is not used again.
      client.release(broken);
    }
  }

  /**
   * Rejects unless the server takes writes: every request counts against a quota, so nothing can be served from a standby.
   * Its connection is closed: the next one may lead to the primary.
   */
  async assertWritable(): Promise<void> {
    const client = await this.#pool.connect();
    let writable = false;
    try {
      const { rows } = await client.query(readWritable);
      writable = rows[0].writable;
    } finally {
      client.release(!writable);
    }
    if (!writable) throw new Error('The database cannot be written to.');
  }

  /** Rejects unless the database has room for a new table. The rest of the transaction takes it back. */
  async tryToWrite(): Promise<void> {
    try {
      await this.run(takeRoom, []);
    } catch (error) {
      // A role without the right to temporary tables: the next real write will tell.
      if ((error as pg.DatabaseError).code !== insufficientPrivilege) throw error;
    }
    this.health.succeeded();
  }

  #noteFailure(error: pg.DatabaseError): void {
    if (diskErrors.has(error.code ?? '')) this.health.failed(error);
  }

  get pool(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** On a connection of its own, without a limit of time: a node waits for as long as another takes. */
async function migrate(servers: Servers, mustExist: boolean): Promise<void> {
  const connect = (statement_timeout?: number) =>
    servers.connect({ application_name: applicationName, ...(statement_timeout && { statement_timeout }) });
  const client = await connect();
  try {
    await refuseUnfit(client);
    await refuseUnfitPooler(client, () => connect(statementMs));
    if (mustExist && (await schemaVersion(client)) === 0) throw new Error('it holds no store of Skein');
    await bringUpToDate(client);
    if (await isUnfinished(client)) throw new Error(unfinishedCopyFault);
  } finally {
    await client.end();
  }
}

/** Settings of a database on which the service would start and then fail in its work. */
async function refuseUnfit(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_setting('server_encoding') AS encoding, current_setting('default_transaction_isolation') AS isolation",
  );
  const { encoding, isolation } = rows[0];
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}: make the database with UTF8`);
  if (isolation !== 'read committed') {
    throw new Error(`default_transaction_isolation is '${isolation}': set it to 'read committed'`);
  }
}

/** Whether a copy is being written into the database, or was interrupted. */
export async function isUnfinished(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('${unfinishedCopyTable}') IS NOT NULL AS found`);
  return rows[0].found;
}

/**
 * Forward only, in one transaction, under a lock that all nodes of the database share. Where there is nothing to do
 * nothing is written, so that a role without rights on the schema, or a standby, is enough.
 */
export async function bringUpToDate(
  client: pg.ClientBase,
  migrations: Migrations = readMigrations(migrationsFolder),
): Promise<void> {
  if ((await schemaVersion(client)) === migrations.version) return;
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
    const version = await schemaVersion(client);
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
  const { rows: tables } = await client.query("SELECT to_regclass('schema_version') IS NOT NULL AS made");
  if (!tables[0].made) return 0;
  const { rows } = await client.query('SELECT version FROM schema_version');
  return rows[0]?.version ?? 0;
}
