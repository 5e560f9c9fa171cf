import { sharedStore } from '../sql/shared-store.ts';
import type { Store, StoreWatch } from '../store.ts';
import { WriteHealth } from '../write-health.ts';
import { sqliteAdmissions, sqliteUsages } from './admissions.ts';
import { CommitQueue, type MachineClock, machineClock } from './commit-queue.ts';
import { openDatabase } from './database.ts';
import { diagnose } from './diagnose.ts';
import { DiskGuard } from './disk-guard.ts';
import { sqliteDocuments } from './documents.ts';
import { sqlitePurges } from './purge.ts';
import { sqliteReplies } from './replies.ts';
import { sqliteRetention } from './retention.ts';
import { sqliteThreads } from './threads.ts';
import { sqliteTransactions } from './transactions.ts';
import { sqliteWalks } from './walks.ts';
import { createWorkerLock } from './worker-lock.ts';

/** The embedded store: one file and one connection. One process serves it; the operator's commands may run besides. */
export function openSqliteStore(file: string, clock: MachineClock = machineClock, watch?: StoreWatch): Store {
  const database = openDatabase(file);
  const health = new WriteHealth(watch);
  const guard = new DiskGuard(file, health);
  const commits = new CommitQueue(database, clock, guard);
  const workerLock = createWorkerLock(file);
  const ping = database.prepare('SELECT latest_at FROM store_clock');

  const shared = sharedStore(sqliteTransactions(database, commits));

  return {
    ...shared,
    ...sqliteAdmissions(database, commits, shared),
    ...sqliteThreads(database, commits),
    ...sqliteWalks(database, commits),
    ...sqliteReplies(database, commits, workerLock),
    ...sqliteDocuments(database, commits),
    ...sqliteUsages(database, commits),
    ...sqliteRetention(database, commits),
    ...sqlitePurges(database, commits),

    async ping() {
      guard.assertInPlace();
      // Any change will do, but it has to be one: SQLite does not write unchanged pages.
      if (health.failure !== undefined) await commits.durable((clock) => clock.after());
      else ping.get();
    },

    connections: () => undefined,

    clockAheadMs: async () => commits.aheadMs(),

    diagnose: async () => diagnose(database, clock.wall),

    async close() {
      commits.flush();
      database.close();
      guard.close();
      workerLock.release();
    },
  };
}
