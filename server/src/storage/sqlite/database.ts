import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { invalid } from '../../domain/errors.ts';
import { explainFault } from '../../domain/store-fault.ts';
import {
  type Migrations,
  noStoreFault,
  otherProgramFault,
  readMigrations,
  storeMark,
} from '../migrations/migrations.ts';
import { unfinishedCopyFault, unfinishedCopyTable } from '../port/archive.ts';
import { isBackup, readHeader } from './disk-guard.ts';

export type Database = Sqlite.Database;

interface OpenOptions {
  /** Fails with SQLITE_BUSY if another process has the file open, and keeps all others out. */
  readonly alone?: boolean;
  /** Accepts an unfinished copy. */
  readonly unfinished?: boolean;
  /** Rejects a file without a store instead of creating one, and does not change it. */
  readonly mustExist?: boolean;
  readonly migrations?: Migrations;
}

export function openDatabase(
  file: string,
  { alone, unfinished, mustExist, migrations = readMigrations('sqlite') }: OpenOptions = {},
): Database {
  // Opening a pipe would wait for its other end.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new Error('it is not a file');
  if (!mustExist) {
    createFolder(dirname(file));
    // Only the owner may read the file. SQLite gives its other files the same mode.
    closeSync(openSync(file, 'a', 0o600));
  }
  rejectSecondName(file);
  rejectOldJournal(file);
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    // First, so that two processes that start at once wait for each other.
    database.pragma(`busy_timeout = ${alone ? 1000 : 5000}`);
    // Before the journal mode, which is written into the file.
    rejectUnlessStore(database, mustExist);
    if (alone) database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    database.pragma('foreign_keys = ON');
    // Removed and replaced data is overwritten, in freed pages too, so that a purge leaves no copy.
    database.pragma('secure_delete = ON');
    // Random gets on a store of 150 MB took 43 µs of processor time with 16 MiB, 40 µs with 64 MiB and 33 µs with a mapped
    // file. The file is not mapped, because a file that is truncated while it is mapped ends the process with SIGBUS.
    database.pragma('cache_size = -16384');
    database.pragma('mmap_size = 0');
    // A commit does not wait for the disk: commit-queue.ts syncs the journal.
    database.pragma('synchronous = NORMAL');
    migrate(database, migrations);
    if (!unfinished && isUnfinished(database)) throw new Error(unfinishedCopyFault);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** The journal has the name of the file, so a process that uses another hard link would not see its commits. */
function rejectSecondName(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) > 1)
    throw new Error('it has a second name (a hard link): remove one of the names, or use a copy of the file');
}

/** SQLite would apply the journal of the replaced store to a backup, which damages it. */
function rejectOldJournal(file: string): void {
  if (!existsSync(file)) return;
  const journal = `${realpathSync(file)}-wal`;
  if (!statSync(journal, { throwIfNoEntry: false })?.size) return;
  const descriptor = openSync(file, 'r');
  try {
    if (isBackup(readHeader(descriptor)))
      throw new Error(`it is a backup, but ${journal} belongs to the previous store: remove that file`);
  } finally {
    closeSync(descriptor);
  }
}

function rejectUnlessStore(database: Database, mustExist = false): void {
  const names = database.prepare<[], string>('SELECT name FROM sqlite_schema').pluck().all();
  if (names.includes(storeMark)) return;
  if (names.length > 0) throw new Error(otherProgramFault);
  if (mustExist) throw new Error(noStoreFault);
}

/** Whether a copy is being written into the store, or was interrupted. */
export function isUnfinished(database: Database): boolean {
  const find = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
  return find.get(unfinishedCopyTable) !== undefined;
}

/** One folder at a time: Node's recursive mkdir never returns if a folder cannot be created, for example under /proc. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Forward only, under the write lock: a second process that starts at the same time waits. */
function migrate(database: Database, migrations: Migrations): void {
  database
    .transaction(() => {
      // 0 for an empty file.
      const version = database.pragma('user_version', { simple: true }) as number;
      for (const sql of migrations.after(version)) database.exec(sql);
      if (version < migrations.version) database.pragma(`user_version = ${migrations.version}`);
    })
    .immediate();
}

/** 4 MiB at the usual page size. The progress bar is updated and signals are handled between steps. */
const pagesPerStep = 1024;

/**
 * Copies the current state of the store into `copy`, an empty file, without blocking writers, and checks the copy. All steps
 * read one snapshot; otherwise SQLite would start over with every commit of another process and never finish under load.
 */
export async function copySqliteFile(
  storeFile: string,
  copy: string,
  onStep: (donePages: number, allPages: number) => void,
): Promise<void> {
  const store = openSnapshot(storeFile);
  try {
    const { totalPages: pages } = await store.backup(copy, {
      progress({ totalPages, remainingPages }) {
        onStep(totalPages - remainingPages, totalPages);
        return pagesPerStep;
      },
    });
    store.exec('COMMIT');
    onStep(pages, pages);
  } finally {
    store.close();
  }
  checkSqliteFile(copy);
}

function openSnapshot(storeFile: string): Database {
  let store: Database | undefined;
  try {
    rejectSecondName(storeFile);
    store = new Sqlite(storeFile, { fileMustExist: true, timeout: 5000 });
    store.exec('BEGIN');
    rejectUnlessStore(store, true);
    return store;
  } catch (error) {
    store?.close();
    throw invalid(`Cannot read the store ${storeFile} (${explainFault(error as Error)}).`);
  }
}

/** Opens the copy like a restored store. Throws if SQLite finds damage, which then comes from the store itself. */
function checkSqliteFile(copy: string): void {
  const database = new Sqlite(copy, { fileMustExist: true });
  try {
    const found = String(database.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') throw new Error(`the store is damaged: ${found}: restore a backup`);
    // See `isBackup`.
    database.pragma('journal_mode = DELETE');
  } finally {
    // The only connection: SQLite removes its other files when it is closed.
    database.close();
  }
}

/** Calls back after all pending promise callbacks, and before the event loop continues. */
export function atEndOfTurn(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}
