import { realpathSync } from 'node:fs';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { DiskGuard } from './disk-guard.ts';

/** The length of the journal is read after this many commits: it takes 30 µs or more. */
const commitsPerCheck = 64;
/** A frame is a page of 4 KiB. */
const checkpointFrames = 1000;
/** From this length on, the journal starts over. */
const restartFrames = 8000;
/** Longer journals are checkpointed by the commit itself, on the event loop, in case the thread does not. */
const autocheckpointFrames = 32_000;

/**
 * Copies committed pages from the journal to the database in a thread, because a checkpoint writes and syncs two files.
 *
 * SQLite starts the journal over with the first commit that finds all of it copied. While commits keep arriving, that
 * never happens by itself: a long journal is copied once more while commits are held.
 */
export class Checkpoints {
  readonly #database: Database;
  readonly #guard: DiskGuard;
  readonly #file: string;
  readonly #syncFailed: (error: Error) => void;
  #commits = 0;
  #running: Promise<void> | undefined;
  #thread: Worker | undefined;
  /** Called with the length of the journal, in frames. */
  #passed: (frames: number) => void = () => {};

  constructor(file: string, database: Database, guard: DiskGuard, syncFailed: (error: Error) => void) {
    this.#file = realpathSync(file);
    this.#database = database;
    this.#guard = guard;
    this.#syncFailed = syncFailed;
    database.pragma(`wal_autocheckpoint = ${autocheckpointFrames}`);
  }

  /** To be called after every commit. */
  committed(queue: CommitQueue): void {
    this.#commits += 1;
    if (this.#running !== undefined || this.#commits < commitsPerCheck) return;
    this.#commits = 0;
    if (checkpoint(this.#database, 'NOOP') < checkpointFrames) return;
    this.#running = this.#run(queue).finally(() => {
      this.#running = undefined;
    });
  }

  /** To be called before the database is closed. */
  async close(): Promise<void> {
    await this.#running;
    const thread = this.#thread;
    if (thread === undefined) return;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.ref();
    thread.postMessage('close');
    await ended;
  }

  async #run(queue: CommitQueue): Promise<void> {
    if ((await this.#checkpoint()) < restartFrames) return;
    try {
      // Otherwise the checkpoint would do it, while commits are held.
      await this.#guard.syncFile();
    } catch (error) {
      this.#syncFailed(error as Error);
      return;
    }
    await queue.hold(() => this.#checkpoint());
  }

  #checkpoint(): Promise<number> {
    return new Promise((resolve) => {
      this.#passed = resolve;
      try {
        this.#thread ??= this.#start();
        this.#thread.ref();
        this.#thread.postMessage('checkpoint');
      } catch {
        // The files were moved, or the system cannot start another thread.
        resolve(0);
      }
    });
  }

  /** Started on first use: most commands and idle services do not need it. */
  #start(): Worker {
    this.#guard.assertInPlace();
    const thread = new Worker(new URL(import.meta.url), {
      workerData: { checkpoints: this.#file },
      // Not the flags of the process: a thread refuses some of them.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    });
    thread.on('message', (frames: number) => {
      // It keeps the process alive only while something waits for it.
      thread.unref();
      this.#passed(frames);
    });
    // If it cannot open the database, it ends.
    thread.on('error', () => {});
    thread.on('exit', () => {
      this.#thread = undefined;
      this.#passed(0);
    });
    return thread;
  }
}

/** In the thread: runs one checkpoint per message, with a connection of its own. */
function runCheckpoints(file: string): void {
  const port = parentPort!;
  const database = new Sqlite(file, { fileMustExist: true });
  port.on('message', (message: 'checkpoint' | 'close') => {
    if (message === 'checkpoint') port.postMessage(checkpoint(database, 'PASSIVE'));
    else {
      database.close();
      port.close();
    }
  });
}

/** Returns the length of the journal, or 0 if the disk is full or broken: commits report it, and a later call tries again. */
function checkpoint(database: Database, mode: 'NOOP' | 'PASSIVE'): number {
  try {
    return (database.pragma(`wal_checkpoint(${mode})`) as { log: number }[])[0]!.log;
  } catch {
    return 0;
  }
}

const { checkpoints } = (workerData ?? {}) as { checkpoints?: string };
if (parentPort !== null && checkpoints !== undefined) runCheckpoints(checkpoints);
