import { closeSync, fdatasync, openSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';
import { cacheBytesDefault } from '../../domain/limits.ts';
import { diagnoseClock } from '../port/clock-jumps.ts';
import type { Diagnosis, Store, StoreWatch } from '../port/store.ts';
import { WriteHealth } from '../port/write-health.ts';
import { diagnoseReplies, isRunning, isSuspect } from '../sql/replies.ts';
import { retention } from '../sql/retention.ts';
import { sharedStore } from '../sql/shared-store.ts';
import { type Statement, sqliteStatement } from '../sql/sql.ts';
import { sqliteAdmissions } from './admissions.ts';
import { createCheckpoints } from './checkpoints.ts';
import { CommitQueue } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';
import { DiskGuard } from './disk-guard.ts';
import { sqliteDocuments } from './documents.ts';
import { createWorkerLock } from './locks.ts';
import { sqlitePurges, sqliteRemoval } from './purge.ts';
import { sqliteReplies } from './replies.ts';
import { createReadThreads } from './store-thread.ts';
import { type MachineClock, machineClock, readLatest } from './store-time.ts';
import { syncedReads } from './synced-reads.ts';
import { sqliteThreadSearch } from './thread-search.ts';
import { sqliteThreads } from './threads.ts';
import { sqliteTransactions } from './transactions.ts';
import { sqliteWalks } from './walks.ts';
import { WatchedCache } from './watched-cache.ts';

/** The embedded store: one file and one connection. One process serves it; the operator's commands may run alongside. */
export function openSqliteStore(
  file: string,
  clock: MachineClock = machineClock,
  watch?: StoreWatch,
  cacheBytes = cacheBytesDefault,
  sync: (journal: Journal) => Promise<void> = (journal) => journal.sync(),
): Store {
  const database = openDatabase(file);
  const journal = openJournal(file);
  const health = new WriteHealth(watch);
  const guard = new DiskGuard(file, health);
  const checkpoints = createCheckpoints(file, database, guard, stopProcess);
  const commits = new CommitQueue(database, clock, () => sync(journal), {
    guard,
    committed: (queue) => checkpoints.committed(queue),
    syncFailed: stopProcess,
  });
  const cache = new WatchedCache(database, cacheBytes);
  const workerLock = createWorkerLock(file);
  const reads = createReadThreads(file);
  const ping = database.prepare(readLatest.sql);

  const transactions = sqliteTransactions(database, commits);

  const store: Store = {
    ...sharedStore(transactions),
    ...sqliteAdmissions(database, commits, cache),
    ...sqliteThreads(transactions, cache),
    ...sqliteWalks(database, commits, cache),
    ...sqliteThreadSearch(database, commits, transactions, reads),
    ...sqliteReplies(transactions, commits, clock, workerLock),
    ...sqliteDocuments(database, commits, transactions),
    ...retention(transactions, sqliteRemoval),
    ...sqlitePurges(database, commits, transactions),

    async ping() {
      guard.assertInPlace();
      commits.assertWritable();
      // It has to change something: SQLite does not write unchanged pages.
      if (health.failure !== undefined) await commits.durable((clock) => clock.after());
      else ping.get();
    },

    connections: () => undefined,

    clockAheadMs: async () => commits.aheadMs(),

    diagnose: async () => diagnose(database, clock.wall),

    async close() {
      await checkpoints.close();
      await reads.close();
      await commits.drain();
      database.close();
      journal.close();
      guard.close();
      workerLock.release();
    },
  };
  return syncedReads(store, commits);
}

/** Throws outside of any call, so that the service shuts down and is restarted. Unconfirmed writes are not acknowledged. */
function stopProcess(error: Error): void {
  setImmediate(() => {
    throw new Error(
      `The disk did not confirm a write to the store (${error.message}): check the disk and its file system.`,
      { cause: error },
    );
  });
}

const syncDescriptor = promisify(fdatasync);

type Journal = ReturnType<typeof openJournal>;

/**
 * SQLite's write-ahead log, opened a second time to sync it in a thread of Node's pool. SQLite keeps no locks on this
 * file, and does not replace it while the database is open.
 */
function openJournal(file: string) {
  try {
    const descriptor = openSync(`${realpathSync(file)}-wal`, 'r+');
    return { sync: () => syncDescriptor(descriptor), close: () => closeSync(descriptor) };
  } catch (cause) {
    throw new Error('SQLite cannot keep a write-ahead log there: move the store to a local disk', { cause });
  }
}

const countRunning = sqliteStatement(
  'count-running-replies',
)`SELECT count(*) FROM message WHERE ${isRunning}`;
const countSuspects = sqliteStatement('count-suspects')`SELECT count(*) FROM message WHERE ${isSuspect}`;

function diagnose(database: Database, wallClock: () => number): Diagnosis[] {
  const first = ({ sql }: Statement) => database.prepare<[], number>(sql).pluck().get() ?? 0;
  const pragma = (name: string) => String(database.pragma(name, { simple: true }));
  const checks: Readonly<Record<string, () => Omit<Diagnosis, 'check'>>> = {
    store() {
      const journal = pragma('journal_mode');
      return journal === 'wal'
        ? { ok: true, detail: `SQLite, schema ${pragma('user_version')}` }
        : { ok: false, detail: `the journal is ${journal}, not WAL: move the store to a local disk` };
    },
    integrity() {
      const result = pragma('quick_check(1)');
      const broken = (database.pragma('foreign_key_check') as unknown[]).length;
      return result === 'ok' && broken === 0
        ? { ok: true, detail: 'no damage found' }
        : { ok: false, detail: `damaged (${result}, ${broken} broken references): restore a backup` };
    },
    clock: () => diagnoseClock(first(readLatest) - wallClock(), 'correct it'),
    replies: () => diagnoseReplies(first(countRunning), first(countSuspects)),
  };
  return Object.entries(checks).map(([check, look]) => {
    try {
      return { check, ...look() };
    } catch (error) {
      return { check, ok: false, detail: `${(error as Error).message}: check the disk or restore a backup` };
    }
  });
}
