import { accessSync, closeSync, constants, existsSync, openSync, realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { Database } from './database.ts';

/** Writes wait this long for another process to finish its transaction. Then they fail at once until it has. */
const writesWaitMs = 5000;
/** Transactions of the operator's commands take a few milliseconds. A longer one is reported. */
const reportMs = 1000;

/** SQLite's write lock. Waiting for it in SQLite would block the event loop, and with it everyone's reads. */
export class WriteLock {
  readonly #steady: () => number;
  readonly #begin;
  /** On the steady clock. */
  #takenSinceMs: number | undefined;

  constructor(database: Database, steady: () => number) {
    this.#steady = steady;
    database.pragma('busy_timeout = 0');
    this.#begin = database.prepare('BEGIN IMMEDIATE');
  }

  /** Whether another process had it at the last attempt. */
  get isTaken(): boolean {
    return this.#takenSinceMs !== undefined;
  }

  /** Starts a transaction. Returns false as long as writes may wait for the lock, and then throws SQLite's error. */
  begin(): boolean {
    try {
      this.#begin.run();
      this.#takenSinceMs = undefined;
      return true;
    } catch (error) {
      if (!(error as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw error;
      const nowMs = this.#steady();
      this.#takenSinceMs ??= nowMs;
      if (nowMs - this.#takenSinceMs >= writesWaitMs) throw error;
      return false;
    }
  }

  /** Throws if another process has had it for more than a second. */
  assertFree(): void {
    const takenMs = this.#steady() - (this.#takenSinceMs ?? Number.POSITIVE_INFINITY);
    if (takenMs >= reportMs) throw new Error('another process has not finished its transaction');
  }
}

/** Longer than a starting process holds a lock to find out whether it is alone. */
const lockWaitMs = 100;

/** Creates and locks a file until the returned function is called or the process ends. Undefined if it is already locked. */
export function lockFile(file: string): (() => void) | undefined {
  const holder = openLock(file, lockWaitMs);
  if (granted(holder, 'BEGIN IMMEDIATE')) return () => holder.close();
  holder.close();
  return undefined;
}

const retryMs = 20;

export type WorkerLock = ReturnType<typeof createWorkerLock>;

/**
 * Tells a starting worker whether another one uses the same store, by a SQLite lock on a file next to it, which the kernel
 * releases when a process dies. Running workers share the lock; a worker that gets it exclusively is alone.
 */
export function createWorkerLock(storeFile: string) {
  let holder: Database | undefined;

  function release(): void {
    holder?.close();
    holder = undefined;
  }

  return {
    release,
    /** Counts this process among the running workers until `release`. If it is the only one, `alone` runs first. */
    async join(alone: () => Promise<void>): Promise<void> {
      if (holder !== undefined) return;
      holder = openLock(workerFile(storeFile), 0);
      if (granted(holder, 'BEGIN EXCLUSIVE')) {
        // Release on failure; otherwise other workers wait forever.
        await alone().catch((error) => {
          release();
          throw error;
        });
        holder.exec('COMMIT');
      }
      holder.exec('BEGIN');
      // Another starting worker may hold it exclusively for a moment. This worker has claimed nothing yet, so nothing is lost.
      while (!granted(holder, 'SELECT 1 FROM sqlite_schema')) await pause(retryMs);
    },
  };
}

/** Contains no data. Like the journal, it is next to the real file, so that processes detect each other across symbolic links. */
export const workerFile = (storeFile: string) => `${realpathSync(storeFile)}-worker`;

function openLock(file: string, timeout: number): Database {
  // SQLite would grant every lock on a file that it can only read.
  if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  // Not if it exists: closing a descriptor would release the locks that this process has on the file.
  else closeSync(openSync(file, 'a', 0o600));
  return new Sqlite(file, { timeout });
}

function granted(database: Database, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return false;
    throw error;
  }
}
