/**
 * `node tests/src/run-tests.ts` runs every test file. Three processes at a time keep two cores busy, because tests often
 * wait for a socket or a disk. Exits with 1 if a test fails.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { filesOf, type GroupName, groups } from './groups.ts';
import { root } from './service.ts';

const testFiles = [
  'server/testing/**/*.test.ts',
  'server/src/{generation,metrics,storage}/**/*.test.ts',
  'tests/**/*.test.ts',
];

const names = Object.keys(groups) as GroupName[];
const grouped = new Set(names.flatMap(filesOf));
const alone = globSync(testFiles, { cwd: root })
  .filter((file) => !grouped.has(file))
  .sort();
// Groups take longest, so they start first.
const files = [...names.map((name) => `tests/src/groups/${name}.ts`), ...alone];

run({ files: files.map((file) => join(root, file)), concurrency: 3, timeout: 600_000 })
  .on('test:fail', () => {
    process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);
