import { realpathSync } from 'node:fs';
import { orUndefined } from '../../../../runtime/src/pure/or-undefined.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { DiskGuard } from './disk-guard.ts';
import { StoreThread } from './store-thread.ts';

/** The length of the journal is read after this many commits: it takes 30 µs or more. */
const commitsPerCheck = 64;
/** A frame is a page of 4 KiB. */
const checkpointFrames = 1000;
/** From this length on, the journal starts over. */
const restartFrames = 8000;
/** The commit itself checkpoints longer journals, in case the thread does not. */
const autocheckpointFrames = 32_000;

/**
 * Copies committed pages from the journal to the database in a thread, because a checkpoint writes and syncs two files.
 *
 * SQLite starts the journal over with the first commit that finds all of it copied. While commits keep arriving, that
 * never happens by itself: a long journal is copied once more while commits are held.
 */
export function createCheckpoints(
  file: string,
  database: Database,
  guard: DiskGuard,
  syncFailed: (error: Error) => void,
) {
  const thread = new StoreThread(realpathSync(file), {
    readonly: false,
    resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
  });
  database.pragma(`wal_autocheckpoint = ${autocheckpointFrames}`);
  let commits = 0;
  let running: Promise<void> | undefined;

  /** Returns the length of the journal, or 0 if it failed: commits report a broken disk, and a later call tries again. */
  async function checkpoint(): Promise<number> {
    try {
      // The thread would open other files if these were moved.
      guard.assertInPlace();
      const [result] = await thread.all<[busy: number, log: number]>('PRAGMA wal_checkpoint(PASSIVE)', {});
      return result![1];
    } catch {
      return 0;
    }
  }

  async function run(queue: CommitQueue): Promise<void> {
    if ((await checkpoint()) < restartFrames) return;
    try {
      // Otherwise the checkpoint would do it, while commits are held.
      await guard.syncFile();
    } catch (error) {
      syncFailed(error as Error);
      return;
    }
    await queue.hold(checkpoint);
  }

  return {
    /** Call it after every commit. */
    committed(queue: CommitQueue): void {
      commits += 1;
      if (running !== undefined || commits < commitsPerCheck) return;
      commits = 0;
      if (journalFrames(database) < checkpointFrames) return;
      running = run(queue).finally(() => {
        running = undefined;
      });
    },

    /** Call it before the database is closed. */
    async close(): Promise<void> {
      await running;
      await thread.close();
    },
  };
}

/** The length of the journal, or 0 if the disk is broken. */
function journalFrames(database: Database): number {
  const [state] = orUndefined(() => database.pragma('wal_checkpoint(NOOP)') as { log: number }[]) ?? [];
  return state?.log ?? 0;
}
