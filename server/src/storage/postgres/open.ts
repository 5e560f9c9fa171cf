import { cacheBytesDefault } from '../../domain/limits.ts';
import { ObjectCache } from '../cache/object-cache.ts';
import { diagnoseClock } from '../port/clock-jumps.ts';
import type { Diagnosis, Store } from '../port/store.ts';
import { purges } from '../sql/purge.ts';
import { diagnoseReplies, isRunning, isSuspect } from '../sql/replies.ts';
import { type Removal, retention } from '../sql/retention.ts';
import { sharedStore } from '../sql/shared-store.ts';
import { identifier, postgresStatement, sql } from '../sql/sql.ts';
import { postgresAdmissions } from './admissions.ts';
import { Database, type PoolSettings } from './database.ts';
import { postgresDocuments } from './documents.ts';
import { migrate } from './migrate.ts';
import { postgresNotices } from './notices.ts';
import { postgresReplies } from './replies.ts';
import { Servers } from './servers.ts';
import { type NodeClock, StoreTime, serverTime } from './store-time.ts';
import { postgresThreadSearch } from './thread-search.ts';
import { postgresThreads } from './threads.ts';
import { postgresWalks } from './walks.ts';

const readTime = postgresStatement('read-time')`SELECT greatest(latest_at, :now) AS at,
  greatest(0, greatest(latest_at, :clockFloor::bigint) - coalesce(:clockTime::bigint, ${serverTime})) AS "aheadMs"
  FROM store_clock`;

const removal: Removal = {
  statement: postgresStatement,
  // By ctid, which the same statement has looked up, so that no plan can turn into a scan of the table.
  deleteFirst(table, condition, { skipLocked = false } = {}) {
    const lock = skipLocked ? sql`FOR UPDATE SKIP LOCKED` : sql``;
    return sql`DELETE FROM ${identifier(table)} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${identifier(table)} WHERE ${condition} LIMIT :limit ${lock}))`;
  },
  rowsAtOnce: 500,
  transactionMs: Number.POSITIVE_INFINITY,
};

const systemClock: NodeClock = { steady: () => performance.now() };

/** The store of many nodes. A node holds only connections, and a cache that each read validates: it can go away at any time. */
export async function openPostgresStore(
  url: string,
  settings: PoolSettings,
  clock: NodeClock = systemClock,
): Promise<Store> {
  const time = new StoreTime(clock);
  const servers = new Servers(url);
  await migrate(servers, settings);
  const database = new Database(servers, time, settings);
  await database.assertWritable();
  const { run } = database;
  const beforeMs = time.steady();
  const [start] = await run<{ at: number }>(readTime);
  const reading = { time: start!.at, beforeMs, afterMs: time.steady() };
  const cache = new ObjectCache(settings.cacheBytes ?? cacheBytesDefault);
  const { close: closeNotices, ...notices } = postgresNotices(database, servers);

  return {
    ...sharedStore(database),
    ...postgresAdmissions(database),
    ...postgresThreads(database, cache),
    ...postgresWalks(database, cache),
    ...postgresThreadSearch(database),
    ...postgresReplies(database, reading),
    ...postgresDocuments(database),
    ...retention(database, removal),
    ...purges(database, removal),
    // PostgreSQL vacuums dead rows by itself.
    finishPurge: async () => true,
    ...notices,

    async ping() {
      await database.assertWritable();
      if (database.health.failure !== undefined) await database.tryToWrite();
    },

    connections: () => database.pool,

    async clockAheadMs() {
      const [clocks] = await run<{ aheadMs: number }>(readTime);
      return clocks!.aheadMs;
    },

    diagnose: () => diagnose(database),

    async close() {
      await closeNotices();
      await database.close();
    },
  };
}

const readFacts = postgresStatement('diagnose')`
  SELECT current_setting('server_version') AS version, (SELECT version FROM schema_version) AS schema,
    current_setting('synchronous_commit') AS synchronous, ${serverTime} AS clock,
    (SELECT latest_at FROM store_clock) AS latest, (SELECT count(*) FROM message WHERE ${isRunning}) AS replies,
    (SELECT count(*) FROM message WHERE ${isSuspect}) AS suspects`;

type Facts = Record<'version' | 'synchronous', string> &
  Record<'schema' | 'clock' | 'latest' | 'replies' | 'suspects', number>;

async function diagnose({ run }: Database): Promise<Diagnosis[]> {
  const startMs = performance.now();
  const [facts] = await run<Facts>(readFacts);
  const tookMs = performance.now() - startMs;
  const { version, schema, synchronous, clock, latest, replies, suspects } = facts!;
  const found = [`PostgreSQL ${version}, schema ${schema}, answers in ${tookMs.toFixed(1)} ms`];
  if (synchronous === 'off')
    found.push('synchronous_commit is off, so a power cut loses acknowledged writes: set it to on');
  return [
    { check: 'store', ok: found.length === 1, detail: found.join('; ') },
    diagnoseClock(latest - clock, 'correct the clock of the database server'),
    diagnoseReplies(replies, suspects),
  ];
}
