import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { takeLock } from './web-build.ts';

/** Starts a build while only two file descriptors are left, which are too few to start a process. */
const program = `
import { closeSync, openSync } from 'node:fs';
import { buildBeside } from ${JSON.stringify(join(import.meta.dirname, 'web-build.ts'))};
const warnings = [];
const log = { info() {}, warn: (_details, message) => warnings.push(message) };
const opened = [];
try {
  for (;;) opened.push(openSync('/dev/null'));
} catch {
  for (const descriptor of opened.slice(0, 2)) closeSync(descriptor);
}
await buildBeside(log, process.argv[1], 'the console').ended;
for (const descriptor of opened.slice(2)) closeSync(descriptor);
process.stdout.write(warnings.join());
`;

describe('A build of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-build-'));
  const lock = join(folder, 'dist.building');
  after(() => rmSync(folder, { recursive: true }));

  it('does not stop the service if it cannot be started, and leaves no lock', () => {
    writeFileSync(join(folder, 'build.ts'), '');
    const command = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1" "$2"';
    const printed = execFileSync('sh', ['-c', command, process.execPath, program, folder], {
      encoding: 'utf8',
    });
    assert.equal(printed, 'the console could not be built: npm ci, then npm run build');
    assert.equal(existsSync(lock), false);
  });

  it('runs in one process at a time, also after one was killed', () => {
    assert.equal(takeLock(lock), true);
    assert.equal(takeLock(lock), false, 'a running process has it');
    const { pid } = spawnSync('true');
    writeFileSync(lock, String(pid));
    assert.equal(takeLock(lock), true, 'the process that had it has ended');
    assert.equal(readFileSync(lock, 'utf8'), String(process.pid));
  });

  it('runs in one of two processes that find the lock of a killed one', ({ mock }) => {
    const { pid } = spawnSync('true');
    writeFileSync(lock, String(pid));
    const module = JSON.stringify(join(import.meta.dirname, 'web-build.ts'));
    const takeIt = `import { takeLock } from ${module}; process.stdout.write(String(takeLock(process.argv[1])));`;
    let taken = '';
    const read = mock.method(fs, 'readFileSync', (...args: Parameters<typeof readFileSync>) => {
      read.mock.restore();
      syncBuiltinESMExports();
      const content = readFileSync(...args);
      taken = execFileSync(process.execPath, ['--input-type=module', '--eval', takeIt, lock], {
        encoding: 'utf8',
      });
      return content;
    });
    syncBuiltinESMExports();
    assert.equal(takeLock(lock), false);
    assert.equal(taken, 'true');
    assert.deepEqual(readdirSync(folder).sort(), ['build.ts', 'dist.building']);
  });

  it('does not start while a process of another user builds', ({ mock }) => {
    writeFileSync(lock, '1');
    mock.method(process, 'kill', () => {
      throw Object.assign(new Error(), { code: 'EPERM' });
    });
    assert.equal(takeLock(lock), false);
  });
});
