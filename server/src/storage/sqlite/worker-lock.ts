import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';

const retryMs = 20;

export type WorkerLock = ReturnType<typeof createWorkerLock>;

/**
 * Shows a starting worker whether another worker uses the same store, by a SQLite lock on a file next to it: Node.js has no
 * other lock that the kernel releases when a process dies. Running workers share the lock; a worker that gets it
 * exclusively is alone. Nothing is ever written to the file.
 */
export function createWorkerLock(storeFile: string) {
  let holder: Sqlite.Database | undefined;
  return {
    /** Counts this process among the running workers until `release`. If it is the only one, `alone` runs first. */
    async join(alone: () => Promise<void>): Promise<void> {
      if (holder !== undefined) return;
      const file = `${storeFile}-worker`;
      closeSync(openSync(file, 'a', 0o600));
      holder = new Sqlite(file, { timeout: 0 });
      if (granted(holder, 'BEGIN EXCLUSIVE')) {
        await alone();
        holder.exec('COMMIT');
      }
      holder.exec('BEGIN');
      // Another starting worker may hold it exclusively for a moment. This worker has claimed nothing yet, so nothing is lost.
      while (!granted(holder, 'SELECT 1 FROM sqlite_schema')) await pause(retryMs);
    },
    release() {
      holder?.close();
      holder = undefined;
    },
  };
}

function granted(database: Sqlite.Database, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return false;
    throw error;
  }
}
