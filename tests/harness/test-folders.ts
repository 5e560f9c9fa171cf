import { globSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './service/service.ts';

/**
 * These folders take longest, so they start first: otherwise the last of them would run alone. Reading documents mostly
 * waits, so it runs beside the browsers, which do not. All other folders follow in alphabetical order.
 */
export const longestFirst: readonly string[] = [
  'tests/src/browser',
  'tests/src/replies',
  'tests/src/nodes',
  'tests/src/nodes/database-outages',
  'tests/src/nodes/pgbouncer',
  'tests/src/nodes/rolling-restarts',
  'tests/src/browser/looks',
  'answers/src/reading',
  'server/src/storage/postgres',
  'server/src/storage/sqlite',
  'tests/src/client',
  'tests/src/commands',
  'tests/src/console',
  'tests/src/console/settings',
  'tests/src/stored-data',
  'tests/src/disk',
  'tests/src/oauth',
  'tests/src/operating',
  'tests/src/properties',
  'tests/src/access',
  'tests/src/protocol',
  'tests/src/spec',
  'tests/src/histories',
  'tests/src/neighbors',
  'tests/src/sockets',
  'tests/src/protocol/unread-streams',
  'tests/src/copy',
  'tests/src/installation/package',
  'tests/src/fuzz',
  'tests/src/serving',
  'tests/src/examples',
  'tests/src/documentation/programs',
  'tests/src/documentation/settings',
  'tests/src/documentation/site',
];

/** The test files of each folder, without those of the folders below it. Paths are relative to the root. */
export type TestFolders = ReadonlyMap<string, readonly string[]>;

/** Every folder of the repository that contains test files, longest first. */
export function findTestFolders(): TestFolders {
  const files = globSync('**/*.test.ts', { cwd: root, exclude: isGenerated });
  const byFolder = Map.groupBy(files.sort(), dirname);
  const first = longestFirst.filter((folder) => byFolder.has(folder));
  const order = new Set([...first, ...[...byFolder.keys()].sort()]);
  return new Map([...order].map((folder) => [folder, byFolder.get(folder) as string[]]));
}

function isGenerated(path: string): boolean {
  return /(^|\/)(node_modules|dist|\.[^/]+)$/.test(path);
}

/**
 * What `run` of `node:test` starts as separate processes: by default one entry for each folder. Otherwise, each pattern
 * names files, which run alone, or folders, which run with all folders below.
 */
export function findEntries(patterns: readonly string[], entriesFolder: string): string[] {
  const folders = findTestFolders();
  if (patterns.length === 0)
    return [...folders.keys()].map((folder) => writeEntry(folder, folders, entriesFolder));
  return patterns.flatMap((pattern) => {
    const paths = globSync(pattern).map((path) => resolve(path));
    if (paths.length === 0) throw new Error(`${pattern}: no such file or folder`);
    return paths.sort().flatMap((path) => {
      if (!statSync(path).isDirectory()) return [path];
      const named = relative(root, path);
      const below = [...folders.keys()].filter((folder) => `${folder}/`.startsWith(`${named}/`));
      if (below.length === 0) throw new Error(`${pattern}: has no test files`);
      return below.map((folder) => writeEntry(folder, folders, entriesFolder));
    });
  });
}

/** Writes a module that registers the tests of all files of the folder in its process. */
function writeEntry(folder: string, folders: TestFolders, entriesFolder: string): string {
  const entry = join(entriesFolder, `${folder}.mjs`);
  const files = folders.get(folder) as readonly string[];
  const lines = files.map((file) => `await import(${JSON.stringify(pathToFileURL(join(root, file)))});\n`);
  mkdirSync(dirname(entry), { recursive: true });
  writeFileSync(entry, lines.join(''));
  return entry;
}
