import { closeSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/** Tells whether any other process works on the same store: a killed one has let go of the lock, whatever killed it. */
export interface WorkerLock {
  /** Whether it is ours: no other living worker has it. It stays ours until `release`. */
  take(): boolean;
  release(): void;
}

/**
 * SQLite's own lock on a file beside the store, since Node.js has no other that the kernel takes back from a dead
 * process. Nothing is ever written to the file.
 */
export function createWorkerLock(storeFile: string): WorkerLock {
  let holder: Sqlite.Database | undefined;
  return {
    take() {
      if (holder !== undefined) return true;
      const file = `${storeFile}-worker`;
      closeSync(openSync(file, 'a', 0o600));
      const candidate = new Sqlite(file, { timeout: 0 });
      try {
        candidate.exec('BEGIN EXCLUSIVE');
        holder = candidate;
        return true;
      } catch (error) {
        candidate.close();
        if ((error as { code?: string }).code === 'SQLITE_BUSY') return false;
        throw error;
      }
    },
    release() {
      holder?.close();
      holder = undefined;
    },
  };
}
