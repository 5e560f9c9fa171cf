import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { createReadThreads, StoreThread } from './store-thread.ts';

/** Takes far longer than closing the thread. */
const long = `WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted LIMIT 2000000)
  SELECT max(n) FROM counted`;

describe('The read threads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-reads-'));
  const file = join(folder, 'x.db');
  before(() => new Sqlite(file).exec('CREATE TABLE t (n)').close());
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('continue after a query that fails, and reject waiting queries when they are closed', async () => {
    const reads = createReadThreads(file);
    const failing = reads.all('SELECT missing', {});
    const next = reads.all('SELECT 1', {});
    await assert.rejects(failing, /missing/);
    assert.deepEqual(await next, [[1]]);
    const asked = Promise.allSettled([1, 2, 3].map(() => reads.all(long, {})));
    await reads.close();
    for (const { status } of await asked) assert.equal(status, 'rejected');
    await assert.rejects(reads.all('SELECT 1', {}), /was closed/);
  });

  it('answer a query while a longer one runs', async () => {
    const reads = createReadThreads(file);
    await Promise.all([1, 2].map(() => reads.all('SELECT 1', {})));
    const answered: string[] = [];
    await Promise.all([
      reads.all(long, {}).then(() => answered.push('long')),
      reads.all('SELECT 1', {}).then(() => answered.push('short')),
    ]);
    assert.deepEqual(answered, ['short', 'long']);
    await reads.close();
  });
});

describe('A thread of the store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-thread-'));
  const file = join(folder, 'x.db');
  before(() => new Sqlite(file).exec('CREATE TABLE t (n)').close());
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('never returns the rows of another statement after a value that cannot be sent', async () => {
    const thread = new StoreThread(file);
    await assert.rejects(thread.all('SELECT 1', { value: (() => {}) as never }), /could not be cloned/);
    assert.equal(thread.waiting, 0);
    assert.deepEqual(await Promise.all([thread.all('SELECT 2', {}), thread.all('SELECT 3', {})]), [
      [[2]],
      [[3]],
    ]);
    await thread.close();
  });

  it('fails its open statements if an answer cannot be read, and then ignores its late answers', async () => {
    const thread = new StoreThread(file);
    const started = once(process, 'worker') as Promise<[Worker]>;
    const open = Promise.allSettled([thread.all('SELECT 1', {}), thread.all('SELECT 2', {})]);
    const [worker] = await started;
    worker.emit('messageerror', new Error('unreadable'));
    const next = thread.all('SELECT 3', {});
    worker.emit('message', { rows: [['late']] });
    for (const result of await open)
      assert.match(String((result as { reason?: Error }).reason), /unreadable/);
    assert.deepEqual(await next, [[3]]);
    await thread.close();
  });
});
