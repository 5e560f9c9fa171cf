import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';

const retryMs = 20;

/** Tells a worker that starts whether any other lives on the same store: a killed one has let go, whatever killed it. */
export interface WorkerLock {
  /** Counts this process among the living workers until `release`. Where it is the only one, `alone` runs before. */
  join(alone: () => Promise<void>): Promise<void>;
  release(): void;
}

/**
 * SQLite's own lock on a file beside the store, since Node.js has no other that the kernel takes back from a dead
 * process. Living workers share it; who gets it for itself is alone. Nothing is ever written to the file.
 */
export function createWorkerLock(storeFile: string): WorkerLock {
  let holder: Sqlite.Database | undefined;
  return {
    async join(alone) {
      if (holder !== undefined) return;
      const file = `${storeFile}-worker`;
      closeSync(openSync(file, 'a', 0o600));
      holder = new Sqlite(file, { timeout: 0 });
      if (granted(holder, 'BEGIN EXCLUSIVE')) {
        await alone();
        holder.exec('COMMIT');
      }
      holder.exec('BEGIN');
      // Another that starts has it for itself for a moment. Nothing of ours is held by then, so nothing is lost.
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
