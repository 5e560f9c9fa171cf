import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createWorkerLock, lockFile, type WorkerLock } from './locks.ts';

describe('The worker lock', () => {
  let folder: string;
  let locks: WorkerLock[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-lock-'));
    writeFileSync(join(folder, 'skein.db'), '');
    locks = [];
  });
  afterEach(() => {
    for (const lock of locks) lock.release();
    rmSync(folder, { recursive: true, force: true });
  });

  function worker(file = 'skein.db'): WorkerLock {
    const lock = createWorkerLock(join(folder, file));
    locks.push(lock);
    return lock;
  }
  async function isAlone(lock: WorkerLock): Promise<boolean> {
    let alone = false;
    await lock.join(async () => {
      alone = true;
    });
    return alone;
  }

  it('is exclusive only for a worker that finds no other worker running', async () => {
    const [first, second, third] = [worker(), worker(), worker()];
    assert.equal(await isAlone(first), true);
    assert.equal(await isAlone(second), false);
    first.release();
    assert.equal(await isAlone(third), false, 'the second is running');
    second.release();
    third.release();
    assert.equal(await isAlone(worker()), true);
  });

  it('is one lock for a file and a symbolic link to it', async () => {
    mkdirSync(join(folder, 'other'));
    symlinkSync('../skein.db', join(folder, 'other/linked.db'));
    assert.equal(await isAlone(worker()), true);
    assert.equal(await isAlone(worker('other/linked.db')), false);
  });

  it('admits workers that start at the same time one after the other', async () => {
    const alone = await Promise.all([worker(), worker(), worker()].map(isAlone));
    assert.equal(alone[0], true);
    assert.equal(await isAlone(worker()), false);
  });

  it('is not held by a worker that failed to start', async () => {
    const lock = worker();
    await assert.rejects(
      lock.join(() => Promise.reject(new Error('The disk is full.'))),
      /disk is full/,
    );
    assert.equal(await isAlone(worker()), true);
    assert.equal(await isAlone(lock), false);
  });

  it('is kept by a process that could not lock the file for something else', async () => {
    const unlock = lockFile(join(folder, 'skein.db-worker'));
    const program = `
      const { createWorkerLock, lockFile } = await import(${JSON.stringify(import.meta.resolve('./locks.ts'))});
      const [folder] = process.argv.slice(-1);
      const lock = createWorkerLock(folder + '/skein.db');
      await lock.join(async () => {});
      console.log(lockFile(folder + '/skein.db-worker') === undefined ? 'refused' : 'locked');
      process.stdin.on('end', () => lock.release()).resume();`;
    const other = spawn(process.execPath, ['--input-type=module', '--eval', program, folder]);
    try {
      const [answer] = await once(other.stdout, 'data');
      assert.equal(String(answer), 'refused\n');
      unlock!();
      assert.equal(await isAlone(worker()), false);
    } finally {
      other.stdin.end();
      await once(other, 'exit');
    }
  });

  it('is not granted on a file that the user may only read', () => {
    const file = join(folder, 'skein.db-worker');
    writeFileSync(file, '');
    chmodSync(file, 0o444);
    chmodSync(folder, 0o755);
    const program = `
      const { createWorkerLock } = await import(${JSON.stringify(import.meta.resolve('./locks.ts'))});
      // Permissions do not apply to root.
      if (process.getuid() === 0) process.setuid(65534);
      const lock = createWorkerLock(${JSON.stringify(join(folder, 'skein.db'))});
      await lock.join(async () => console.log('alone')).catch((error) => console.log(error.message));`;
    const stdout = execFileSync(process.execPath, ['--input-type=module', '--eval', program]);
    assert.equal(String(stdout), `EACCES: permission denied, access '${file}'\n`);
  });

  it('does nothing for a worker that has already joined', async () => {
    const lock = worker();
    assert.equal(await isAlone(lock), true);
    assert.equal(await isAlone(lock), false);
  });
});
