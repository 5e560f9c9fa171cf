import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import { counted } from '../../../runtime/src/pure/text.ts';
import type { StoreChoice } from '../config/parsers.ts';
import { invalid, ServiceError } from '../domain/errors.ts';
import { explainFault } from '../domain/store-fault.ts';
import type { CopiedTable } from '../storage/copy-store.ts';
import type { Arguments, BareCommand } from './command.ts';
import { clearStatus, showProgress } from './output.ts';
import { storeAt } from './store-address.ts';

const elsewhere = '; env:NAME or @FILE read its URL from a variable or a file';

const copy: BareCommand = {
  name: 'copy',
  options: [
    new Option('--from <URL>', `The store to copy${elsewhere}`).makeOptionMandatory(),
    new Option('--to <URL>', `The empty store to copy into${elsewhere}`).makeOptionMandatory(),
  ],
  summary:
    'Copy a store into an empty one and compare them. Neither may be in use. After an interruption, run the command again.',
  examples: [
    'copy --from sqlite:./data/skein.db --to @target.url',
    'copy --from env:SKEIN_DATABASE_URL --to sqlite:./copy.db',
  ],
  async runAlone({ options }: Arguments<{ from: string; to: string }>, _config, environment) {
    const from = storeAt('--from', options.from, environment);
    const to = storeAt('--to', options.to, environment);
    if (isDeepStrictEqual(from, to)) throw invalid('--from and --to must be different stores.');
    if (from.engine === 'sqlite' && !stored(from.file)) {
      throw invalid(`--from points to ${from.file}, which does not exist.`);
    }
    const tables = await copyBetween(from, to);
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    const copied = `${counted(rows, 'row')} in ${counted(tables.length, 'table')}`;
    return { json: { tables }, text: `Copied ${copied}. Counts and checksums match in both stores.` };
  },
};

async function copyBetween(from: StoreChoice, to: StoreChoice): Promise<CopiedTable[]> {
  const { copyStore, openArchive, openArchiveTarget, extractPassageTerms } = await import('../compose.ts');
  const source = await opened('--from', from, openArchive);
  try {
    const target = await opened('--to', to, openArchiveTarget);
    try {
      return await copyStore(source, target, { extractPassageTerms, onProgress: showProgress });
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw invalid(`Copy failed (${explainFault(error as Error)}). Run the command again.`);
    } finally {
      clearStatus();
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function opened<T>(
  option: string,
  choice: StoreChoice,
  open: (choice: StoreChoice) => Promise<T>,
): Promise<T> {
  const named = choice.engine === 'sqlite' ? `${choice.file}, which` : 'a database that';
  try {
    return await open(choice);
  } catch (error) {
    const { StoreInUse } = await import('../compose.ts');
    if (error instanceof StoreInUse)
      throw invalid(
        `${option} points to ${named} is in use: stop the service and every command on it first.`,
      );
    throw invalid(`${option} points to ${named} cannot be opened (${explainFault(error as Error)}).`);
  }
}

/** The endings of the files that SQLite keeps for one database. */
const databaseEndings = ['', '-journal', '-wal', '-shm'];

const backup: BareCommand = {
  name: 'backup',
  arguments: { '<FILE>': 'Path of the copy' },
  options: [new Option('--force', 'Replace the file if it exists')],
  summary: 'Copy the embedded store into a file. The service can keep running.',
  examples: ['backup skein-backup.db'],
  async runAlone({ positionals, options }: Arguments<{ force?: boolean }>, { store }) {
    const file = resolve(positionals[0] as string);
    if (store.engine === 'postgres') {
      throw invalid('The store is PostgreSQL: use pg_dump, which copies a running database.');
    }
    if (!stored(store.file)?.isFile()) {
      throw invalid(`Store ${store.file} does not exist: set SKEIN_DATABASE_URL to the service's store.`);
    }
    const { force = false } = options;
    await rejectExisting(file, store, force);
    const bytes = await writeWhole(file, force, (partial) => copyAndCheck(store.file, partial));
    syncFolder(file);
    const megabytes = (bytes / 1_000_000).toFixed(1);
    return { json: { file, bytes }, text: `Backed up the store to ${file} (${megabytes} MB, checked).` };
  },
};

export const commands = [copy, backup];

/** Undefined only if the store does not exist: this user may not be allowed to enter its folder. */
function stored(storeFile: string) {
  try {
    return statSync(storeFile, { throwIfNoEntry: false });
  } catch (error) {
    throw invalid(`Cannot read the store ${storeFile} (${explainFault(error as Error)}).`);
  }
}

async function rejectExisting(file: string, store: { file: string }, force: boolean): Promise<void> {
  if (await belongsToStore(file, store.file))
    throw invalid(`${file} is part of the store: choose another file.`);
  const folder = dirname(file);
  if (!existsSync(folder))
    throw invalid(`Folder ${folder} does not exist: create it, or choose another path.`);
  const there = statSync(file, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isFile()) throw invalid(`${file} is not a file: choose another path.`);
  if (!force) throw alreadyExists(file);
}

function alreadyExists(file: string): Error {
  return invalid(`${file} already exists: choose another file, or add --force to replace it.`);
}

/** Compares paths and inodes: SQLite would use a file with the name of a missing journal as that journal. */
async function belongsToStore(file: string, storeFile: string): Promise<boolean> {
  const { workerFile } = await import('../compose.ts');
  const there = statSync(file, { throwIfNoEntry: false });
  // The journal of a store behind a symbolic link is next to the real file.
  return [resolve(storeFile), realpathSync(storeFile)]
    .flatMap((path) => databaseEndings.map((ending) => `${path}${ending}`))
    .concat(workerFile(storeFile))
    .some((path) => {
      if (resolvedPath(path) === resolvedPath(file)) return true;
      const own = statSync(path, { throwIfNoEntry: false });
      return own !== undefined && own.dev === there?.dev && own.ino === there.ino;
    });
}

/** The path of a file that may be missing, without symbolic links in its folder. */
function resolvedPath(path: string): string {
  const folder = dirname(path);
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
}

/** Writes to a temporary name and renames it once it is complete and synced, so that `file` is never partial. */
async function writeWhole(
  file: string,
  force: boolean,
  write: (partial: string) => Promise<void>,
): Promise<number> {
  const { lockFile } = await import('../compose.ts');
  // Not the process id: in a container it is often the same, and a killed backup leaves its file.
  const partial = `${file}.partial-${randomUUID()}`;
  let unlock: (() => void) | undefined;
  const remove = () => removePartial(partial);
  const interrupted = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    removeAbandoned(dirname(file), lockFile);
    unlock = lockFile(`${partial}${lockEnding}`);
    // Created here to set its mode: it will contain every prompt and reply.
    closeSync(openSync(partial, 'wx', 0o600));
    await write(partial);
    sync(partial);
    const { size } = statSync(partial);
    if (!force) reserve(file);
    renameSync(partial, file);
    return size;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalid(`Cannot write ${file} (${explainFault(error as Error)}): nothing was changed.`);
  } finally {
    remove();
    unlock?.();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
}

/** A backup locks the file with this ending as long as it runs. */
const lockEnding = '-lock';

function removePartial(partial: string): void {
  for (const ending of [...databaseEndings, lockEnding]) {
    // The outcome of the backup matters more than an error. The next one tries again.
    orUndefined(() => rmSync(`${partial}${ending}`, { force: true }));
  }
}

/** Removes what killed backups left in the folder: they no longer hold their locks. */
function removeAbandoned(folder: string, lockFile: (file: string) => (() => void) | undefined): void {
  for (const name of locksIn(folder)) {
    // It may belong to another user.
    const unlock = orUndefined(() => lockFile(join(folder, name)));
    if (unlock !== undefined) removePartial(join(folder, name.slice(0, -lockEnding.length)));
    unlock?.();
  }
}

function locksIn(folder: string): string[] {
  // The user may write to the folder, but not list it.
  const entries = orUndefined(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  // No links: to lock one would create the file that it names.
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ name }) => name).filter((name) => /\.partial-[\da-f-]{36}-lock$/.test(name));
}

/** Creates the file: a rename would replace one that another process has written since. Not every disk has hard links. */
function reserve(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? alreadyExists(file) : error;
  }
}

async function copyAndCheck(storeFile: string, partial: string): Promise<void> {
  const { copySqliteFile } = await import('../compose.ts');
  try {
    await copySqliteFile(storeFile, partial, (done, all) => {
      showProgress(done, all, done < all ? 'pages' : 'pages, checking the copy');
    });
  } finally {
    clearStatus();
  }
}

function syncFolder(file: string): void {
  try {
    sync(dirname(file));
  } catch (error) {
    const fault = `its folder could not be synced (${(error as Error).message})`;
    throw invalid(`${file} is complete, but ${fault}: a power failure may lose the backup.`);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
