import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import {
  cleanEnvironment,
  launcher,
  runCommand,
  runSkein,
  Service,
  temporaryFolder,
} from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { makeMember, makeOrganization } from '../../harness/world/tenants.ts';

const environment = { SKEIN_MODEL: 'scripted' };
/** Long prompts, so that the store has many times the pages that one step copies. */
const promptLength = 60_000;
const threadsBefore = 150;
const bytesPerStep = 1024 * 4096;

describe('skein backup', () => {
  let service: Service;
  let api: Api;
  let key: string;
  before(async () => {
    service = await startWithoutDemo(environment);
    await makeOrganization(service, 'Acme');
    ({ key, api } = await makeMember(service, 'Acme', 'ada@acme.example'));
  });
  after(() => service.end());

  const create = async (title: string): Promise<string> => {
    const { status, body } = await api.create({ title, prompt: `#say Yes.\n${'x'.repeat(promptLength)}` });
    assert.equal(status, 201);
    return body.thread.id;
  };

  it('copies a store during writes, complete and with every write acknowledged before', {
    timeout: 600_000,
  }, async () => {
    const acknowledged: string[] = [];
    let stopping = false;
    let enough = () => {};
    const warm = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const writing = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let turn = 0; !stopping; turn += 1) {
          acknowledged.push(await create(`${writer}-${turn}`));
          if (acknowledged.length === threadsBefore) enough();
        }
      }),
    );
    await Promise.race([warm, writing]);
    const expected = [...acknowledged];
    const { file, bytes } = await service.skein('backup', 'copy.db');
    const written = acknowledged.length - expected.length;
    stopping = true;
    await writing;
    assert.ok(bytes > 2 * bytesPerStep, 'the copy took several steps');
    assert.ok(written > 0, 'threads were made while it was copied');
    assert.equal(file, join(service.folder, 'copy.db'));
    await assertRestored(file, expected, acknowledged.slice(expected.length));
  });

  /** Restores the copy as docs/data.md describes, and checks what it serves. */
  async function assertRestored(file: string, expected: string[], later: string[]): Promise<void> {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    copyFileSync(file, join(folder, 'data/skein.db'));
    const restored = await Service.start({ folder, environment });
    try {
      assert.equal((await restored.skein('doctor')).healthy, true);
      const listed = new Set((await new Api(restored.baseUrl, key).walk({ limit: 100 })).map(({ id }) => id));
      for (const id of expected) assert.ok(listed.delete(id), `${id} was acknowledged before`);
      for (const id of listed) assert.ok(later.includes(id), `${id} is one of those made meanwhile`);
    } finally {
      await restored.end();
    }
  }

  it('writes a file that only its owner can read, and leaves no other files', async () => {
    const folder = temporaryFolder();
    await service.skein('backup', join(folder, 'one.db'));
    assert.deepEqual(readdirSync(folder), ['one.db']);
    assert.equal(statSync(join(folder, 'one.db')).mode & 0o777, 0o600);
  });

  it('replaces an existing file only if asked to', async () => {
    const file = join(temporaryFolder(), 'kept.db');
    writeFileSync(file, 'mine');
    const refused = await runCommand(service.folder, ['backup', file]);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /^skein: .*kept\.db already exists: .*--force.*\n$/);
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    const { bytes } = await service.skein('backup', file, '--force');
    assert.equal(statSync(file).size, bytes);
  });

  it('replaces no file that another backup wrote at the same time', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'same.db');
    const outcomes = await Promise.all(
      Array.from({ length: 3 }, () => runSkein(service.folder, ['backup', file, '--json'])),
    );
    const refused = outcomes.filter(({ exitCode }) => exitCode === 1);
    const [written] = outcomes.filter(({ exitCode }) => exitCode === 0);
    assert.equal(refused.length, 2);
    for (const { stderr } of refused)
      assert.match(stderr, /^skein: .*same\.db already exists: .*--force.*\n$/);
    assert.deepEqual(readdirSync(folder), ['same.db']);
    assert.equal(statSync(file).size, JSON.parse(written!.stdout).bytes);
  });

  it('is not hindered by what a killed backup with the same process id left', async () => {
    const folder = temporaryFolder();
    const left = join(folder, 'copy.db.partial-1');
    writeFileSync(left, 'unfinished');
    const script = `Object.defineProperty(process, 'pid', { value: 1 });`;
    const { exitCode, stderr } = await runSkein(service.folder, ['backup', join(folder, 'copy.db')], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    });
    assert.equal(exitCode, 0, stderr);
    assert.equal(readFileSync(left, 'utf8'), 'unfinished');
  });

  it('is written to a folder that may not be listed', async () => {
    const folder = temporaryFolder();
    const script = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      const { readdirSync } = fs;
      fs.readdirSync = (path, ...options) => {
        if (path === ${JSON.stringify(folder)}) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
        return readdirSync(path, ...options);
      };
      syncBuiltinESMExports();`;
    const { exitCode, stderr } = await runSkein(service.folder, ['backup', join(folder, 'copy.db')], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    });
    assert.equal(exitCode, 0, stderr);
    assert.deepEqual(readdirSync(folder), ['copy.db']);
  });

  it('follows no link that looks like a lock of a killed backup', async () => {
    const folder = temporaryFolder();
    const target = join(temporaryFolder(), 'created');
    symlinkSync(target, join(folder, `copy.db.partial-${randomUUID()}-lock`));
    await service.skein('backup', join(folder, 'copy.db'));
    assert.equal(existsSync(target), false);
  });

  it('removes what a killed backup left in the folder, and nothing of one that still runs', async () => {
    const folder = temporaryFolder();
    // Stays before the last step, which gives the copy its name.
    const script = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      fs.renameSync = () => {
        console.log('renaming');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      };
      syncBuiltinESMExports();`;
    const running = spawn(launcher, ['backup', join(folder, 'monday.db')], {
      cwd: service.folder,
      env: cleanEnvironment({
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(running, 'exit');
    const partials = () => readdirSync(folder).filter((name) => name.startsWith('monday.db.partial-'));
    try {
      // Also emitted at the end of a process that dies early.
      await once(running.stdout, 'readable');
      assert.equal(String(running.stdout.read()), 'renaming\n');
      const held = partials();
      assert.notEqual(held.length, 0);
      await service.skein('backup', join(folder, 'tuesday.db'));
      assert.deepEqual(partials(), held);
    } finally {
      running.kill('SIGKILL');
      await exited;
    }
    assert.notEqual(partials().length, 0, 'nobody has removed them');
    await service.skein('backup', join(folder, 'wednesday.db'));
    // `reserve` has created the file that the killed backup was about to replace.
    assert.deepEqual(readdirSync(folder).sort(), ['monday.db', 'tuesday.db', 'wednesday.db']);
  });

  it('never overwrites a file of the store, under any of its names', async () => {
    const id = await create('Kept');
    const folder = temporaryFolder();
    symlinkSync(join(service.folder, 'data'), join(folder, 'linked'));
    linkSync(join(service.folder, 'data/skein.db-wal'), join(folder, 'hard-link'));
    const names = ['', '-wal', '-shm', '-journal', '-worker'].map((ending) => `data/skein.db${ending}`);
    const others = ['linked/skein.db-wal', 'linked/skein.db-journal', 'hard-link'];
    for (const name of [...names, ...others.map((other) => join(folder, other))]) {
      const { exitCode, stderr } = await runCommand(service.folder, ['backup', name, '--force']);
      assert.equal(exitCode, 1, name);
      assert.match(stderr, /^skein: .* is part of the store: choose another file\.\n$/, name);
    }
    assert.equal((await api.get(id)).status, 200);
    await create('Written after');
  });

  it('explains in one sentence why it cannot write, and creates no store', async () => {
    const nowhere = await runCommand(service.folder, ['backup', 'missing/copy.db']);
    assert.equal(nowhere.exitCode, 1);
    assert.match(
      nowhere.stderr,
      /^skein: Folder .*missing does not exist: create it, or choose another path\.\n$/,
    );
    const unwritable = await runCommand(service.folder, ['backup', 'data/skein.db/copy.db']);
    assert.equal(unwritable.exitCode, 1);
    assert.match(
      unwritable.stderr,
      /^skein: Cannot write .*copy\.db \(ENOTDIR.*\): nothing was changed\.\n$/,
    );
    // No file can be created in it.
    const full = await runCommand(service.folder, ['backup', '/proc/copy.db']);
    assert.equal(full.exitCode, 1);
    assert.match(
      full.stderr,
      /^skein: Cannot write \/proc\/copy\.db \(ENOENT.*: correct the path\): nothing was changed\.\n$/,
    );
    const folder = temporaryFolder();
    const storeless = await runCommand(folder, ['backup', 'copy.db']);
    assert.equal(storeless.exitCode, 1);
    assert.match(storeless.stderr, /^skein: Store .* does not exist: .*SKEIN_DATABASE_URL.*\n$/);
    assert.ok(!existsSync(join(folder, 'data')));
    assert.deepEqual(readdirSync(folder), []);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const piped = await runCommand(folder, ['backup', 'copy.db'], { SKEIN_DATABASE_URL: 'sqlite:./pipe' });
    assert.match(piped.stderr, /^skein: Store .*pipe does not exist: .*SKEIN_DATABASE_URL.*\n$/);
    assert.deepEqual([piped.exitCode, readdirSync(folder)], [1, ['pipe']]);
  });

  it('says that the copy is complete if only its folder could not be synced', async () => {
    const script = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      const fsync = fs.fsyncSync;
      fs.fsyncSync = (file) => { if (fs.fstatSync(file).isDirectory()) throw new Error('EIO'); fsync(file); };
      syncBuiltinESMExports();`;
    const { exitCode, stderr } = await runSkein(service.folder, ['backup', 'unsynced.db'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    });
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^skein: .*unsynced\.db is complete, but its folder could not be synced \(EIO\): .*\n$/,
    );
    assert.ok(statSync(join(service.folder, 'unsynced.db')).size > 0);
  });

  it('refers to pg_dump on PostgreSQL, without showing the password', async () => {
    const { exitCode, stderr, stdout } = await runCommand(service.folder, ['backup', 'other.db'], {
      SKEIN_DATABASE_URL: 'postgres://skein:hunter2@127.0.0.1:1/skein',
    });
    assert.equal(exitCode, 1);
    assert.match(stderr, /^skein: .*pg_dump.*\n$/);
    assert.doesNotMatch(stderr + stdout, /hunter2/);
    assert.ok(!existsSync(join(service.folder, 'other.db')));
  });
});
