import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { FairQueue } from '../../../../runtime/src/pure/fair-queue.ts';
import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import type { StoreWatch } from '../port/store.ts';
import { WriteHealth } from '../port/write-health.ts';
import {
  type BatchableStatement,
  boundValue,
  type CallColumns,
  callsWith,
  callValues,
  longTextCalls,
  postgresStatement,
  type Sql,
  type Statement,
  sql,
  type Values,
  valueNames,
} from '../sql/sql.ts';
import type { Transactions, Work } from '../sql/work.ts';
import { createBatcher } from './batcher.ts';
import { applicationName, connectMs, type Servers, statementMs, tooManyConnections } from './servers.ts';
import { now, type StoreTime } from './store-time.ts';

export { callsWith, callValues };

export type Run = <Row>(statement: Statement, values?: Values) => Promise<Row[]>;

export interface PoolSettings {
  readonly connectionsMax: number;
  readonly watch?: StoreWatch | undefined;
  /** Rejects a database without a store instead of creating one. */
  readonly mustExist?: boolean;
  /** Memory for objects that have not changed since they were read. */
  readonly cacheBytes?: number;
}

/** A node that freezes loses the locks that it holds. Not a parameter of the connection, because a pooler drops it. */
export const begin = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'";
const beginUnsynced = `${begin}; SET LOCAL synchronous_commit = off`;
const idleMs = 30_000;
/** How long a node opens no further connections after the server has refused one. */
const refusedMs = 1_000;

/** Reads bigint values as numbers: counts, times and sequences stay far below 2^53. */
export const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

/** disk_full, io_error, undefined_file, data_corrupted, index_corrupted. An unreachable database fails every query anyway. */
const diskErrors = new Set(['53100', '58030', '58P01', 'XX001', 'XX002']);
const insufficientPrivilege = '42501';
const readOnlyTransaction = '25006';
const deadlockDetected = '40P01';
const readWritable = postgresStatement('read-writable')`
  SELECT current_setting('transaction_read_only') = 'off' AS writable FROM store_clock`;
/** A small write may fit into pages that exist while larger writes fail: this one needs 128 KiB of new space. */
const takeRoom = postgresStatement('take-room')`CREATE TEMPORARY TABLE skein_room ON COMMIT DROP AS
  SELECT repeat(md5(number::text), 32) AS filler FROM generate_series(1, 128) AS number`;

/** For the driver, which numbers values instead of naming them. */
export function query(statement: Statement, values: Values = {}, time?: StoreTime): pg.QueryConfig {
  const { text, names } = numbered(statement);
  const clock = names.includes('clockTime') ? time?.values() : undefined;
  return {
    ...(!statement.isRare && { name: statement.name }),
    text,
    values: names.map((name) => boundValue(statement, name, values, clock)),
  };
}

/** The text with numbered values, and their names in the order of their numbers. */
export const numbered = memoized(({ sql }: Statement) => {
  const names: string[] = [];
  const named = sql.replace(/\bINDEXED BY \w+/g, '').replace(longTextCalls, '$1');
  const text = named.replace(/(?<!:):now\b/g, now).replace(valueNames, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { named, text, names };
});

/**
 * `callsWith` for a statement that locks rows of several organizations: it waits for `:lockMs` at most. OFFSET keeps the
 * planner from merging the subquery. The inner SELECT sets the limit once, not for each call.
 */
export function callsLocking(columns: CallColumns): Sql {
  return sql`(SELECT call.*, (SELECT ${setLockTimeout}) FROM ${callsWith(columns)} OFFSET 0) AS call`;
}

export const setLockTimeout = sql`set_config('lock_timeout', :lockMs::text, true)`;
/** How long a statement for several organizations waits for a lock. Our own transactions take a few milliseconds. */
export const lockMs = 300;
/** How long calls wait for it when they are sent again, separately for each organization. */
export const isolatedLockMs = 10_000;

/** Connections per owner: one runs while the next waits for its lock. More would be taken from other organizations. */
const waitingForLocksMax = 2;

/** Long enough for the other transactions to take the locks that they wait for. */
const afterDeadlockMs = 100;

/** Runs a transaction again if PostgreSQL aborted it to end a deadlock. Deadlocks are rare: see decision 33. */
async function retryAfterDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    if ((error as pg.DatabaseError).code !== deadlockDetected) throw error;
    await pause(afterDeadlockMs);
    return transaction();
  }
}

export const isLockTimeout = (error: unknown) => (error as Partial<pg.DatabaseError>).code === '55P03';

interface BatchLimits {
  readonly batchesMax: number;
  readonly callsMax?: number;
  readonly key?: string;
  /** The name of a value: calls with different ones never share a batch. For calls whose cost an organization can raise. */
  readonly separateBy?: string;
  /** Called for each call before its values are sent, including when they are sent again. */
  readonly beforeSend?: (values: Values) => void;
}

/** Classes of errors that would fail every call of a batch: the connection, a standby, resources, a shutdown, the disk. */
const sharedFaults = new Set(['08', '25', '53', '57', '58']);

function isCallSpecific(error: unknown): boolean {
  const { severity, code = '' } = error as Partial<pg.DatabaseError>;
  // A statement that was cancelled may have waited for the lock of one call.
  return severity === 'ERROR' && (code === '57014' || !sharedFaults.has(code.slice(0, 2)));
}

export class Database implements Transactions {
  readonly #pool: pg.Pool;
  readonly #connectionsMax: number;
  /** Open connections. The pool's own count includes those that are still being opened. */
  #open = 0;
  readonly #slots = new FairQueue<unknown>(Number.POSITIVE_INFINITY, waitingForLocksMax);
  readonly time: StoreTime;
  readonly health: WriteHealth;

  constructor(servers: Servers, time: StoreTime, { connectionsMax, watch }: PoolSettings) {
    this.time = time;
    this.health = new WriteHealth(watch);
    this.#connectionsMax = connectionsMax;
    this.#pool = new pg.Pool({
      ...servers.poolConfig(),
      max: connectionsMax,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: idleMs,
      statement_timeout: statementMs,
      // A server that has vanished sends no error: give up shortly after the server itself would have.
      query_timeout: statementMs + 5_000,
      keepAlive: true,
      application_name: applicationName,
      types,
    });
    this.#pool.on('error', (error) => {
      // The pool ends before the server has closed its connections.
      if (!this.#pool.ending) watch?.connectionBroke(error);
    });
    this.#pool.on('connect', (client) => {
      this.#open += 1;
      // It may break between two statements of a transaction, and an error event without a listener ends the process.
      client.on('error', () => {});
    });
    this.#pool.on('remove', () => {
      this.#open -= 1;
    });
  }

  /** Runs one statement as a transaction of its own, in one round trip. */
  readonly run: Run = async (statement, values) => {
    try {
      const { rows } = await retryAfterDeadlock(() =>
        this.#connected(() => this.#pool.query(query(statement, values, this.time))),
      );
      return this.#seen(rows);
    } catch (error) {
      this.#noteFailure(error as pg.DatabaseError);
      throw error;
    }
  };

  /**
   * Like `run`, but calls that wait at the same time share a batch. The statement reads its calls from `callsWith(columns)`
   * and returns the `ordinal` of the call with each row. Calls share a batch only if their other values are the same and,
   * with `key`, if their values of that name differ.
   */
  batched<Row>(
    statement: Statement,
    columns: CallColumns,
    { batchesMax, callsMax = 64, key, separateBy, beforeSend = () => {} }: BatchLimits,
  ): (values: Values) => Promise<Row[]> {
    const { names } = numbered(statement);
    const shared = names.filter((name) => !(name in columns) && !/^(?:clock|lockMs$)/.test(name));
    const send = async (calls: readonly Values[], isIsolated: boolean) => {
      for (const call of calls) beforeSend(call);
      const values = callValues(statement, columns, calls);
      values.lockMs = isIsolated ? isolatedLockMs : lockMs;
      for (const name of shared) values[name] = calls[0]![name];
      const outcomes = calls.map((): Row[] => []);
      for (const row of await this.run<Row & { ordinal: number }>(statement, values))
        outcomes[row.ordinal - 1]!.push(row);
      return outcomes;
    };
    const laneNames = separateBy === undefined ? shared : [...shared, separateBy];
    const getLane = (values: Values) => laneNames.map((name) => values[name]).join(' ');
    const getKey = key === undefined ? undefined : (values: Values) => String(values[key]);
    const getGroup = ({ organizationId }: Values) => String(organizationId);
    const isolation = names.includes('lockMs') ? { getGroup, waitedTooLong: isLockTimeout } : undefined;
    const settings = { batchesMax, callsMax, getLane, getKey, isolation, isCallSpecific };
    return createBatcher(send, settings);
  }

  /** A statement returns the time that it gave out as `at`. */
  #seen<Row>(rows: Row[]): Row[] {
    const at = (rows[0] as { at?: unknown } | undefined)?.at;
    if (typeof at === 'number') this.time.see(at);
    return rows;
  }

  readonly runsLocally = false;
  readonly read = <T>(work: () => Work<T>): Promise<T> => runAll(this.run, work());
  readonly write = <T>(work: () => Work<T>): Promise<T> => this.#writeInTurn(work);
  readonly writeUnsynced = <T>(work: () => Work<T>): Promise<T> => this.#writeInTurn(work, beginUnsynced);
  readonly writeOne = this.run;
  readonly readMany = <Row>({ many, columns }: BatchableStatement) =>
    this.batched<Row>(many, columns, { batchesMax: 2 });

  /** Runs work that may wait for locks, with few connections for each owner of the locked rows. */
  inTurn<T>(owner: unknown, waitMs: number, work: () => Promise<T>): Promise<T> {
    return owner === undefined ? work() : this.#slots.run(owner, work, AbortSignal.timeout(waitMs));
  }

  /** The first statement names the owner of the rows that the work locks. */
  async #writeInTurn<T>(work: () => Work<T>, start = begin): Promise<T> {
    const first = work().next();
    const { organizationId, userId } = first.done ? {} : first.value.values;
    return this.inTurn(organizationId ?? userId, statementMs, () =>
      this.transaction((run) => runAll(run, work()), start),
    );
  }

  /** For operations that need several statements. The work runs again after a deadlock. */
  transaction<T>(work: (run: Run) => Promise<T>, start = begin): Promise<T> {
    return retryAfterDeadlock(() => this.#runOnce(work, start));
  }

  async #runOnce<T>(work: (run: Run) => Promise<T>, start: string): Promise<T> {
    const client = await this.#connected(() => this.#pool.connect());
    let broken: Error | undefined;
    try {
      await client.query(start);
      const result = await work(async (statement, values) =>
        this.#seen((await client.query(query(statement, values, this.time))).rows),
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
      // Discard a connection that cannot roll back, or whose server no longer accepts writes.
      client.release(broken);
    }
  }

  /** Every request counts against a quota, so a standby cannot serve any. The next connection may lead to the primary. */
  async assertWritable(): Promise<void> {
    const client = await this.#connected(() => this.#pool.connect());
    let writable = false;
    try {
      const { rows } = await client.query(query(readWritable));
      writable = rows[0].writable;
    } finally {
      client.release(!writable);
    }
    if (!writable)
      throw Object.assign(new Error('the server does not accept writes'), { code: readOnlyTransaction });
  }

  /** Rejects unless the database has room for a new table. */
  async tryToWrite(): Promise<void> {
    try {
      await this.run(takeRoom);
    } catch (error) {
      // The role may not create temporary tables: the next real write shows whether there is room.
      if ((error as pg.DatabaseError).code !== insufficientPrivilege) throw error;
    }
    this.health.succeeded();
  }

  /** If the server has too many connections for another one, waits for one that this node has or is opening. */
  async #connected<T>(connect: () => Promise<T>, until = performance.now() + connectMs): Promise<T> {
    try {
      return await connect();
    } catch (error) {
      const { totalCount, options } = this.#pool;
      const isRefused = (error as pg.DatabaseError).code === tooManyConnections;
      if (!isRefused || totalCount === 0 || performance.now() > until) throw error;
      options.max = Math.max(1, this.#open);
      setTimeout(() => {
        options.max = this.#connectionsMax;
      }, refusedMs).unref();
      return this.#connected(connect, until);
    }
  }

  #noteFailure(error: pg.DatabaseError): void {
    if (diskErrors.has(error.code ?? '')) this.health.failed(error);
  }

  get pool() {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

async function runAll<T>(run: Run, work: Work<T>): Promise<T> {
  let step = work.next();
  while (step.done !== true) step = work.next(await run(step.value.statement, step.value.values));
  return step.value;
}
