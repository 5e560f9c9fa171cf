import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createWorkerLock, type WorkerLock } from './worker-lock.ts';

describe('The lock of workers', () => {
  let folder: string;
  let locks: WorkerLock[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-lock-'));
    locks = [];
  });
  afterEach(() => {
    for (const lock of locks) lock.release();
    rmSync(folder, { recursive: true, force: true });
  });

  function worker(): WorkerLock {
    const lock = createWorkerLock(join(folder, 'skein.db'));
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

  it('tells the first that it is alone, and no other while any of them lives', async () => {
    const [first, second, third] = [worker(), worker(), worker()];
    assert.equal(await isAlone(first), true);
    assert.equal(await isAlone(second), false);
    first.release();
    assert.equal(await isAlone(third), false, 'the second lives');
    second.release();
    third.release();
    assert.equal(await isAlone(worker()), true);
  });

  it('lets those that start together in, one after the other', async () => {
    const alone = await Promise.all([worker(), worker(), worker()].map(isAlone));
    assert.equal(alone[0], true);
    assert.equal(await isAlone(worker()), false);
  });

  it('asks a worker that has joined nothing more', async () => {
    const lock = worker();
    assert.equal(await isAlone(lock), true);
    assert.equal(await isAlone(lock), false);
  });
});
