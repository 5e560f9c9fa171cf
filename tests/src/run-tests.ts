/**
 * `node tests/src/run-tests.ts [PATTERN…]` runs the test files that match, by default all of them. Four processes at a
 * time keep two cores busy, because tests often wait for a lease, a timeout or a disk. Exits with 1 if a test fails.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { filesOf, type GroupName, groups } from './groups.ts';
import { prepareEnvironment } from './machine.ts';
import { root } from './service.ts';

const allTests = [
  'server/testing/**/*.test.ts',
  'server/src/{generation,metrics,storage}/**/*.test.ts',
  'tests/**/*.test.ts',
];

/**
 * These take longest, so they start first: otherwise the last of them would run alone. The reader of documents often waits,
 * so it runs beside the browsers, which do not.
 */
const longest = [
  'tests/src/groups/{browser,replies,nodes}.ts',
  'tests/src/nodes/{rolling-restarts,pgbouncer,database-outages}.test.ts',
  'tests/src/browser/looks.test.ts',
  'server/src/generation/reading/document-reader.test.ts',
  'tests/src/groups/*.ts',
  'tests/src/histories/histories.test.ts',
  'server/src/storage/postgres/store.test.ts',
  'tests/src/neighbors/neighbors.test.ts',
  'tests/src/sockets/{fuzz,unread-streams}.test.ts',
  'tests/src/{copy,package,fuzz,serving,examples}.test.ts',
  'tests/src/documentation/*.test.ts',
];

prepareEnvironment();
const patterns = process.argv.slice(2);
const files = patterns.length === 0 ? everyFile() : filesInOrder(patterns);

run({
  files: files.map((file) => join(root, file)),
  concurrency: 4,
  timeout: 3_000_000,
  execArgv: ['--import', join(import.meta.dirname, 'uncaught-errors.ts')],
})
  .on('test:fail', () => {
    process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);

function everyFile(): string[] {
  const grouped = new Set((Object.keys(groups) as GroupName[]).flatMap(filesOf));
  const first = filesInOrder(longest);
  const alone = globSync(allTests, { cwd: root }).filter((file) => !grouped.has(file));
  return [...new Set([...first, ...alone.sort()])];
}

/** The files of the first pattern start first. */
function filesInOrder(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).sort());
}
