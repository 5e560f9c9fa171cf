/**
 * `node tests/harness/run-tests.ts [FILE|FOLDER|PATTERN…]` runs tests, by default all of them. The test files of a folder run
 * in one process, without those of the folders below it. There they share a service (`sharedService`), a browser
 * (`sharedBrowser`) and the process that runs the operator's commands, which would take 2 to 4 s of processor time to start for
 * each file. Files that are named run in a process each; so does `npx node --test FILE`.
 *
 * Four processes at a time keep two cores busy, because tests often wait for a lease, a timeout or a disk. Exits with 1 if
 * a test fails.
 */
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { prepareEnvironment } from './service/machine.ts';
import { temporaryFolder } from './service/service.ts';
import { findEntries } from './test-folders.ts';

prepareEnvironment();

run({
  files: findEntries(process.argv.slice(2), temporaryFolder()),
  concurrency: 4,
  timeout: 3_000_000,
  execArgv: ['--import', join(import.meta.dirname, 'uncaught-errors.ts')],
})
  .on('test:fail', () => {
    process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);
