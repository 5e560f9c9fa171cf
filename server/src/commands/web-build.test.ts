import assert from 'node:assert/strict';
import childProcess, { execFileSync } from 'node:child_process';
import {
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
import { until } from '../../../runtime/testing/until.ts';
import type { Log } from '../log.ts';
import { buildBeside, buildServedFiles } from './web-build.ts';

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
await buildBeside(log, process.argv[1], 'the console', new AbortController().signal);
for (const descriptor of opened.slice(2)) closeSync(descriptor);
process.stdout.write(warnings.join());
`;

/** Builds as the console does, notes when it starts and when it builds, and ends once it may. */
const lockedBuild = `
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { buildOnce } from ${JSON.stringify(join(import.meta.dirname, '../../../build-once.ts'))};
appendFileSync('started', ' ' + process.pid);
await buildOnce(import.meta.dirname, async (fresh) => {
  mkdirSync(fresh);
  appendFileSync('builds', ' ' + process.pid);
  while (!existsSync('may-end')) await setTimeout(5);
});
`;

/** Writes its process id, the page once it may, and then runs until it is stopped. */
const slowBuild = `
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
writeFileSync('pid.part', String(process.pid));
renameSync('pid.part', 'pid');
setInterval(() => {
  if (!existsSync('may-write') || existsSync('dist')) return;
  mkdirSync('dist');
  writeFileSync('dist/index.html', '');
}, 5);
`;

describe('A build of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-build-'));
  after(() => rmSync(folder, { recursive: true }));

  it('does not stop the service if it cannot be started', () => {
    writeFileSync(join(folder, 'build.ts'), '');
    const command = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1" "$2"';
    const printed = execFileSync('sh', ['-c', command, process.execPath, program, folder], {
      encoding: 'utf8',
    });
    assert.equal(printed, 'failed to build the console: run npm ci, then npm run build');
  });

  it('keeps the end of its output, however long the output is', async (test) => {
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
    await buildBeside(log as unknown as Log, talkative, 'the console', new AbortController().signal);
    const [{ code, output }] = warned as [(typeof warned)[0]];
    assert.deepEqual([warned.length, code, output.length], [1, 1, 2000]);
    assert.match(output, /^\.+Cannot find vite$/);
  });

  it('gets none of the secrets of the service', async (test) => {
    const secrets = {
      SKEIN_MODEL_API_KEY: 'k',
      SKEIN_DATABASE_URL: 'd',
      PGPASSWORD: 'p',
      OTEL_EXPORTER_OTLP_HEADERS: 'h',
    };
    const curious = mkdtempSync(join(tmpdir(), 'skein-build-'));
    test.after(() => {
      rmSync(curious, { recursive: true });
      for (const name of Object.keys(secrets)) delete process.env[name];
    });
    Object.assign(process.env, secrets);
    const names = JSON.stringify([...Object.keys(secrets), 'PATH']);
    writeFileSync(
      join(curious, 'build.ts'),
      `console.error(${names}.filter((name) => name in process.env).join()); process.exit(1);`,
    );
    const warn = test.mock.fn();
    const log = { info() {}, warn } as unknown as Log;
    await buildBeside(log, curious, 'the console', new AbortController().signal);
    assert.deepEqual(warn.mock.calls[0]?.arguments[0], { code: 1, output: 'PATH\n' });
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
    await buildBeside(log, broken, 'the console', new AbortController().signal);
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
      await buildBeside(log, process.argv[1], 'the console', new AbortController().signal);`;
    const words = ['--input-type=module', '--eval', script, interrupted];
    const service = childProcess.spawn(process.execPath, words, {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal(await text(service.stdout), 'built the console\n');
  });

  it('runs in one process at a time, and in the next one if that is killed', async (test) => {
    const shared = mkdtempSync(join(tmpdir(), 'skein-build-'));
    const stop = new AbortController();
    test.after(() => {
      stop.abort();
      rmSync(shared, { recursive: true });
    });
    writeFileSync(join(shared, 'build.ts'), lockedBuild);
    writeFileSync(join(shared, 'sources.json'), '["build.ts"]');
    for (const name of ['started', 'builds']) writeFileSync(join(shared, name), '');
    const pids = (name: string) => readFileSync(join(shared, name), 'utf8').split(' ').slice(1).map(Number);
    const [info, warn] = [test.mock.fn(), test.mock.fn()];
    const log = { info, warn } as unknown as Log;
    const ended = [1, 2, 3].map(() => buildBeside(log, shared, 'the console', stop.signal));
    await until(() => pids('started').length === 3 && pids('builds').length > 0);
    const [first, ...others] = pids('builds');
    assert.deepEqual(others, []);
    process.kill(first!, 'SIGKILL');
    await until(() => pids('builds').length > 1);
    writeFileSync(join(shared, 'may-end'), '');
    await Promise.all(ended);
    assert.equal(pids('builds').length, 2, 'the third found what the second had built');
    assert.deepEqual([info.mock.callCount(), warn.mock.callCount()], [2, 1]);
  });

  it('ends with the service, no matter how the service ends, and the next one removes what is left', async (test) => {
    const left = mkdtempSync(join(tmpdir(), 'skein-build-'));
    const mayEnd = () => writeFileSync(join(left, 'may-end'), '');
    test.after(() => {
      mayEnd();
      rmSync(left, { recursive: true });
    });
    writeFileSync(join(left, 'build.ts'), lockedBuild);
    writeFileSync(join(left, 'sources.json'), '["build.ts"]');
    for (const name of ['started', 'builds']) writeFileSync(join(left, name), '');
    const builds = () => readFileSync(join(left, 'builds'), 'utf8').split(' ').slice(1);
    const script = `
      import { buildBeside } from ${JSON.stringify(join(import.meta.dirname, 'web-build.ts'))};
      buildBeside({ info() {}, warn() {} }, process.argv[1], 'the console', new AbortController().signal);`;
    const service = childProcess.spawn(process.execPath, ['--input-type=module', '--eval', script, left]);
    await until(() => builds().length > 0);
    assert.ok(existsSync(join(left, `dist.${builds()[0]}`)));
    service.kill('SIGKILL');
    const log = { info() {}, warn() {} } as unknown as Log;
    const ended = buildBeside(log, left, 'the console', new AbortController().signal);
    // The lock is free once the first one has ended.
    await until(() => builds().length > 1);
    mayEnd();
    await ended;
    assert.deepEqual(
      readdirSync(left).filter((name) => name.startsWith('dist')),
      ['dist', 'dist.lock'],
    );
  });

  it('has a low priority unless the start of the service waits for it', async (test) => {
    const root = mkdtempSync(join(tmpdir(), 'skein-build-'));
    test.after(() => rmSync(root, { recursive: true }));
    const console = join(root, 'console');
    mkdirSync(console);
    writeFileSync(join(console, 'build.ts'), slowBuild);
    const log = { info() {}, warn() {} } as unknown as Log;
    const pidFile = join(console, 'pid');
    const priority = async () => {
      await until(() => existsSync(pidFile));
      return getPriority(Number(readFileSync(pidFile, 'utf8')));
    };
    const first = buildServedFiles(log, root);
    assert.equal(await priority(), getPriority());
    writeFileSync(join(console, 'may-write'), '');
    await first.consoleReady;
    await first.stop();
    rmSync(pidFile);
    const next = buildServedFiles(log, root);
    assert.equal(next.consoleReady, undefined);
    next.checkSources();
    assert.equal(await priority(), constants.priority.PRIORITY_LOW);
    await next.stop();
  });
});
