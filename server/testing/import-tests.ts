import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Registers the tests of all files that match the pattern in this process. Each file can also be run alone. */
export async function importTests(pattern: string, exclude: readonly string[] = []): Promise<void> {
  for (const file of globSync(pattern, { cwd: root, exclude }).sort()) await import(join(root, file));
}
