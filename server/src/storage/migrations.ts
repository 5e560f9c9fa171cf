import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Migrations = ReturnType<typeof readMigrations>;

/** The numbered SQL files of one adapter. `007-name.sql` brings the schema to version 7; numbers may have gaps. */
export function readMigrations(folder: string) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ name, version: numberOf(name) }))
    .sort((a, b) => a.version - b.version);
  for (const [index, { name, version }] of files.entries()) {
    const previous = files[index - 1];
    if (previous?.version === version) throw new Error(`${previous.name} and ${name} have the same number`);
  }
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
      return missing.map(({ name }) => readFileSync(join(folder, name), 'utf8'));
    },
  };
}

function numberOf(name: string): number {
  const number = Number(/^(\d+)-/.exec(name)?.[1] ?? 0);
  if (number === 0) throw new Error(`${name} does not start with a number, as in 002-add-column.sql`);
  return number;
}
