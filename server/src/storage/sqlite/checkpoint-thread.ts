import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

export interface Checkpointed {
  /** The length of the journal. */
  readonly frames: number;
}

/** Runs one checkpoint per message, with a connection of its own. */
const port = parentPort!;
const database = new Sqlite(workerData as string, { fileMustExist: true });

port.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'checkpoint') port.postMessage(checkpoint());
  else {
    database.close();
    port.close();
  }
});

function checkpoint(): Checkpointed {
  try {
    const [result] = database.pragma('wal_checkpoint(PASSIVE)') as { log: number }[];
    return { frames: result!.log };
  } catch {
    // The disk is full or broken: commits report it, and a later checkpoint tries again.
    return { frames: 0 };
  }
}
