import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { unfinishedCopyFault, unfinishedCopyTable } from '../archive.ts';

export type Database = Sqlite.Database;

const migrationsFolder = join(import.meta.dirname, 'migrations');

export interface OpenOptions {
  /** Fails with SQLITE_BUSY where another process has it open, and keeps all others out. For who reads all of it once. */
  readonly alone?: boolean;
  /** Whether it may be a copy that was interrupted. */
  readonly unfinished?: boolean;
}

/** Opens the file, makes it where it is missing, and brings its schema up to date. */
export function openDatabase(
  file: string,
  { alone = false, unfinished = false }: OpenOptions = {},
): Database {
  makeFolder(dirname(file));
  // Prompts are nobody else's business; SQLite gives its other files the same mode.
  closeSync(openSync(file, 'a', 0o600));
  const database = new Sqlite(file);
  try {
    // First of all, so that two processes starting at once wait for each other.
    database.pragma(`busy_timeout = ${alone ? 1000 : 5000}`);
    if (alone) database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    database.pragma('foreign_keys = ON');
    // What is removed from a page is overwritten in it, so that a purge leaves no copy behind; it costs no write.
    database.pragma('secure_delete = FAST');
    // Pages beyond these 16 MiB are read from the system's page cache. On a store of 150 MB whose threads were read at
    // random, a get took 43 µs of processor time with 16 MiB, 40 with 64 and 33 with a memory-mapped file. The file is
    // not mapped: a file that is truncated under its mapping ends the process with SIGBUS.
    database.pragma('cache_size = -16384');
    database.pragma('mmap_size = 0');
    // Raised to FULL for every durable commit: see commit-queue.ts.
    database.pragma('synchronous = NORMAL');
    migrate(database);
    if (!unfinished && isUnfinished(database)) throw new Error(unfinishedCopyFault);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Whether a copy is being written into the store, or was interrupted. */
export function isUnfinished(database: Database): boolean {
  return (
    database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(unfinishedCopyTable) !== undefined
  );
}

/** Step by step: Node's own recursive mkdir never returns where a folder cannot be made, as under /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Forward only, under the write lock: a second process that starts meanwhile waits, then finds nothing to do. */
function migrate(database: Database): void {
  const files = readdirSync(migrationsFolder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  database
    .transaction(() => {
      const done = database.pragma('user_version', { simple: true }) as number;
      if (done > files.length) {
        throw new Error(
          `The store was written by a newer release (schema ${done}, this one knows ${files.length}): install that release.`,
        );
      }
      for (const file of files.slice(done)) database.exec(readFileSync(join(migrationsFolder, file), 'utf8'));
      if (done < files.length) database.pragma(`user_version = ${files.length}`);
    })
    .immediate();
}
