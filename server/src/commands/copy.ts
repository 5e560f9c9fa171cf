import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { ConfigError, readStore, type StoreChoice } from '../config/config.ts';
import { invalid } from '../domain/errors.ts';
import { counted } from '../domain/text.ts';
import type { CopiedTable } from '../storage/copy-store.ts';
import { type Arguments, type BareCommand, optionText, UsageError } from './command.ts';
import { ProgressBar } from './output.ts';

export const copy: BareCommand = {
  name: 'copy',
  options: [
    new Option('--from <URL>', 'The store to copy').makeOptionMandatory(),
    new Option('--to <URL>', 'The empty store to copy into').makeOptionMandatory(),
  ],
  summary:
    'Copy a store into an empty one and compare them; neither may be in use. After an interruption, run it again',
  examples: ['copy --from sqlite:./data/skein.db --to postgres://skein:PASSWORD@db.example/skein'],
  async runAlone(args) {
    const from = readOption(args, 'from');
    const to = readOption(args, 'to');
    if (nameOf(from) === nameOf(to)) throw invalid('--from and --to name the same store.');
    if (from.engine === 'sqlite' && !existsSync(from.file)) {
      throw invalid(`--from names ${from.file}, which does not exist.`);
    }
    const tables = await copyBetween(from, to);
    return { json: { tables }, text: describe(tables) };
  },
};

async function copyBetween(from: StoreChoice, to: StoreChoice): Promise<CopiedTable[]> {
  const { copyStore, copyTools, openArchive, openArchiveTarget } = await import('../compose.ts');
  const source = await opened('--from', from, openArchive);
  try {
    const target = await opened('--to', to, openArchiveTarget);
    const progress = new ProgressBar();
    try {
      const onProgress = progress.show.bind(progress);
      return await copyStore(source, target, { ...copyTools, onProgress });
    } finally {
      progress.clear();
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function readOption(args: Arguments, name: 'from' | 'to'): StoreChoice {
  try {
    return readStore(optionText(args, name) ?? '');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The address is not repeated because it may hold a password.
    throw new UsageError(
      `--${name} must be sqlite: and a file, as in sqlite:./data/skein.db, or postgres://USER:PASSWORD@HOST/DATABASE.`,
    );
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
      throw invalid(`${option} names ${named} is in use: stop the service and every command on it first.`);
    const { message, code } = error as NodeJS.ErrnoException;
    throw invalid(`${option} names ${named} cannot be opened (${message || code}).`);
  }
}

function nameOf(choice: StoreChoice): string {
  return choice.engine === 'sqlite' ? choice.file : choice.url;
}

function describe(tables: readonly CopiedTable[]): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return `${counted(rows, 'row')} in ${counted(tables.length, 'table')} are the same in both stores, by count and checksum.`;
}
