import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Engine = 'postgres' | 'sqlite';
export type Migrations = ReturnType<typeof readMigrations>;

export const migrationsFolder = import.meta.dirname;

export const noStoreFault = 'it does not contain a Skein store';
export const otherProgramFault = 'it is in use by another program: choose another one for Skein';
/** A store of either engine has this table, from its first migration on. */
export const storeMark = 'store_clock';

/** The numbered SQL files. `007-name.sql` brings the schema to version 7; numbers may have gaps. */
export function readMigrations(engine: Engine, folder = migrationsFolder) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ name, version: Number.parseInt(name, 10) }))
    .sort((a, b) => a.version - b.version);
  const newest = files.at(-1)?.version ?? 0;
  return {
    /** The highest number: the schema version of a store that has all of them. */
    version: newest,
    /** The SQL texts that a store of this version lacks, in order. Throws if a newer release wrote the store. */
    after(version: number): string[] {
      if (version > newest) {
        throw new Error(
          `The store was written by a newer release (schema ${version}, this one knows ${newest}): install that release.`,
        );
      }
      const missing = files.filter((file) => file.version > version);
      return missing.map(({ name }) => textFor(engine, readFileSync(join(folder, name), 'utf8')));
    },
  };
}

/** Leaves out the parts for the other engine. A line such as `-- sqlite:` starts a part. */
function textFor(engine: Engine, text: string): string {
  let part = 'both';
  const lines = text.split('\n').flatMap((line) => {
    const started = /^-- (both|postgres|sqlite):$/.exec(line)?.[1];
    part = started ?? part;
    if (started !== undefined || (part !== 'both' && part !== engine)) return [];
    return part === 'both' && engine === 'sqlite' ? toSqlite(line) : line;
  });
  return lines.join('\n');
}

/** SQLite compares texts by their bytes and stores flags as integers. An index covers a listing only with `deleted_at`. */
function toSqlite(line: string): string {
  return line
    .replaceAll(' COLLATE "C"', '')
    .replace(/\b(\w+) boolean\b/, '$1 INTEGER CHECK ($1 IN (0, 1))')
    .replace(/\bbigint\b/, 'INTEGER')
    .replace(/\bbytea\b/, 'BLOB')
    .replace(/(ON thread \(.*)\bactivity_at, id\)/, '$1deleted_at, activity_at, id)')
    .replace(/ AND published\b/, ' AND published = 1')
    .replace(/^\)(?: WITH \(fillfactor = \d+\))?; -- rowid$/, ') STRICT;')
    .replace(/^\)(?: WITH \(fillfactor = \d+\))?;$/, ') STRICT, WITHOUT ROWID;');
}
