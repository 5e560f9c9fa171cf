import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = realpathSync(join(import.meta.dirname, '../../..'));
/** The workspaces with the program and what it imports. */
const workspaces = ['answers', 'runtime'];

/** What the parsers and `extractTerms` import. A package that is missing here cannot be loaded. */
const packages = ['lru-cache', 'markdown-it', 'parse5', 'stemmer', 'unpdf'];

let flags: string[] | undefined;

/**
 * Node's options for a reading process. It may read the program and the packages that this loads, and nothing else: no
 * other files, no writing, no child processes, no native addons and, from Node.js 25 on, no network. For
 * `--allow-worker`, see `reading-process.ts`.
 */
export function readingFlags(): readonly string[] {
  flags ??= [
    '--permission',
    '--allow-worker',
    // Node's own SQLite opens every file, whatever the permissions.
    '--no-experimental-sqlite',
    ...[...programPaths()].map((path) => `--allow-fs-read=${path}`),
  ];
  return flags;
}

function programPaths(): Set<string> {
  // Without its package.json, the program would not count as ECMAScript modules.
  const paths = new Set(
    workspaces.flatMap((name) => [join(root, name, 'src'), join(root, name, 'package.json')]),
  );
  for (const name of packages) addPackage(paths, name, import.meta.url);
  return paths;
}

/** Adds the package that the program at `from` gets by this name, and the packages that it needs. */
function addPackage(paths: Set<string>, name: string, from: string): void {
  const manifest = findPackageJSON(name, from);
  if (manifest === undefined) throw new Error(`the package ${name} is not installed`);
  const folder = dirname(manifest);
  for (const link of linksTo(folder)) paths.add(link);
  const real = realpathSync(folder);
  if (paths.has(real)) return;
  paths.add(real);
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  const parent = pathToFileURL(join(real, 'package.json')).href;
  for (const dependency of Object.keys(dependencies)) addPackage(paths, dependency, parent);
}

/** A package, its scope or `node_modules` may be a link, as pnpm makes them. Node.js reads where it leads. */
function linksTo(folder: string): string[] {
  const isTop = basename(folder) === 'node_modules' || folder === dirname(folder);
  const above = isTop ? [] : linksTo(dirname(folder));
  return lstatSync(folder).isSymbolicLink() ? [folder, ...above] : above;
}
