import { ClockJumps } from '../clock-jumps.ts';
import { sharedStore } from '../sql/shared-store.ts';
import { statement } from '../sql/sql.ts';
import type { Store } from '../store.ts';
import { postgresAdmissions, postgresUsages } from './admissions.ts';
import { Database, type PoolSettings } from './database.ts';
import { diagnose } from './diagnose.ts';
import { postgresDocuments } from './documents.ts';
import { postgresNotices } from './notices.ts';
import { postgresPurges } from './purge.ts';
import { postgresReplies } from './replies.ts';
import { postgresRetention } from './retention.ts';
import { Servers } from './servers.ts';
import { type NodeClock, StoreTime, serverTime } from './store-time.ts';
import { postgresThreadSearch } from './thread-search.ts';
import { postgresThreads } from './threads.ts';
import { postgresWalks } from './walks.ts';

const readTime = statement('read-time')`SELECT greatest(latest_at, :now) AS at,
  greatest(0, greatest(latest_at, :clockFloor::bigint) - coalesce(:clockTime::bigint, ${serverTime})) AS "aheadMs"
  FROM store_clock`;

const systemClock: NodeClock = { steady: () => performance.now() };

/** The store of many nodes. A node keeps nothing but connections: any of them can go away at any time. */
export async function openPostgresStore(
  url: string,
  settings: PoolSettings,
  clock: NodeClock = systemClock,
): Promise<Store> {
  const time = new StoreTime(clock);
  const servers = new Servers(url);
  const database = await Database.open(servers, time, settings);
  const { run } = database;
  const beforeMs = time.steady();
  const [start] = await run<{ at: number }>(readTime);
  const jumps = new ClockJumps({ time: start!.at, beforeMs, afterMs: time.steady() });
  const { close: closeNotices, ...notices } = postgresNotices(database, servers);

  return {
    ...sharedStore(database),
    ...postgresAdmissions(database),
    ...postgresThreads(database),
    ...postgresWalks(database),
    ...postgresThreadSearch(database),
    ...postgresReplies(database, jumps),
    ...postgresDocuments(database),
    ...postgresUsages(database),
    ...postgresRetention(database),
    ...postgresPurges(database),
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
