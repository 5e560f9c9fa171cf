import assert from 'node:assert/strict';
import childProcess, { execFileSync, spawnSync } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import type { Log } from '../log.ts';
import { buildBeside, buildServedFiles, takeLock, threadsOf } from './web-build.ts';

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
await buildBeside(log, process.argv[1], 'the console', new AbortController().signal).ended;
for (const descriptor of opened.slice(2)) closeSync(descriptor);
process.stdout.write(warnings.join());
`;

/** Writes the page once it may, and then runs until it is stopped. */
const slowBuild = `
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
setInterval(() => {
  if (!existsSync('may-write') || existsSync('dist')) return;
  mkdirSync('dist');
  writeFileSync('dist/index.html', '');
}, 5);
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

  it('keeps the end of what it printed, however much that is', async (test) => {
    const talkative = mkdtempSync(join(tmpdir(), 'skein-build-'));
    test.after(() => rmSync(talkative, { recursive: true }));
    // More than fits into a string.
    writeFileSync(
      join(talkative, 'build.ts'),
      `import { writeSync } from 'node:fs';
      const line = Buffer.alloc(2 ** 20, '.');
      for (let count = 0; count < 520; count += 1) for (let at = 0; at < line.length; ) at += writeSync(2, line, at);
      writeSync(2, 'Cannot find vite');
      process.exit(1);`,
    );
    const warned: { code: number; output: string }[] = [];
    const log = { info() {}, warn: (details: (typeof warned)[0]) => warned.push(details) };
    await buildBeside(log as unknown as Log, talkative, 'the console', new AbortController().signal).ended;
    const [{ code, output }] = warned as [(typeof warned)[0]];
    assert.deepEqual([warned.length, code, output.length], [1, 1, 2000]);
    assert.match(output, /^\.+Cannot find vite$/);
  });

  it('does not stop the service if its output cannot be read', async (test) => {
    const broken = mkdtempSync(join(tmpdir(), 'skein-build-'));
    writeFileSync(join(broken, 'build.ts'), 'process.exit(1);');
    const { spawn } = childProcess;
    const spawned = test.mock.method(childProcess, 'spawn', (...args: Parameters<typeof spawn>) => {
      const build = spawn(...args);
      build.stderr!.destroy(new Error('EIO'));
      return build;
    });
    syncBuiltinESMExports();
    test.after(() => {
      rmSync(broken, { recursive: true });
      spawned.mock.restore();
      syncBuiltinESMExports();
    });
    const warn = test.mock.fn();
    const log = { info() {}, warn } as unknown as Log;
    await buildBeside(log, broken, 'the console', new AbortController().signal).ended;
    assert.deepEqual(warn.mock.calls[0]?.arguments[0], { code: 1, output: '' });
  });

  it('does not fail when Ctrl-C is pressed in the terminal of the service', async (test) => {
    const interrupted = mkdtempSync(join(tmpdir(), 'skein-build-'));
    test.after(() => rmSync(interrupted, { recursive: true }));
    // The terminal sends the signal to the whole group of the process that it has started.
    writeFileSync(join(interrupted, 'build.ts'), "process.kill(-process.ppid, 'SIGINT');");
    const script = `
      import { buildBeside } from ${JSON.stringify(join(import.meta.dirname, 'web-build.ts'))};
      process.on('SIGINT', () => {});
      const log = { info: console.log, warn: (_details, message) => console.log(message) };
      await buildBeside(log, process.argv[1], 'the console', new AbortController().signal).ended;`;
    const words = ['--input-type=module', '--eval', script, interrupted];
    const service = childProcess.spawn(process.execPath, words, {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal(await text(service.stdout), 'the console is built\n');
  });

  it('runs in one process at a time, even after one was killed', () => {
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

  it('has a low priority only while there is a console to serve', async (test) => {
    const root = mkdtempSync(join(tmpdir(), 'skein-build-'));
    test.after(() => rmSync(root, { recursive: true }));
    const console = join(root, 'console');
    mkdirSync(console);
    writeFileSync(join(console, 'build.ts'), slowBuild);
    const log = { info() {}, warn() {} } as unknown as Log;
    const { consoleReady, stop } = buildServedFiles(log, root);
    const build = Number(readFileSync(join(console, 'dist.building'), 'utf8'));
    const priorities = () => new Set(threadsOf(build).map((thread) => getPriority(thread)));
    assert.deepEqual(priorities(), new Set([getPriority()]));
    writeFileSync(join(console, 'may-write'), '');
    await consoleReady;
    assert.deepEqual(priorities(), new Set([constants.priority.PRIORITY_LOW]));
    await stop();
  });
});
