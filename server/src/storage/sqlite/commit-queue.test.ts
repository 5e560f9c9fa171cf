import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommitQueue } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';

const full = 2;
const normal = 1;

describe('The commit queue', () => {
  let folder: string;
  let database: Database;
  let commits: CommitQueue;
  let wall: number;
  let steady: number;
  const synchronous = () => database.pragma('synchronous', { simple: true });
  const kept = () => database.prepare<[], string>('SELECT name FROM secret ORDER BY name').pluck().all();
  const keep = (name: string) => {
    database.prepare('INSERT INTO secret (name, value) VALUES (?, ?)').run(name, Buffer.alloc(1));
    return name;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-commits-'));
    database = openDatabase(join(folder, 'x.db'));
    wall = 1000;
    steady = 0;
    commits = new CommitQueue(database, { wall: () => wall, steady: () => steady });
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('commits the writes of one turn together and answers each', async () => {
    const seenByOthers = openDatabase(join(folder, 'x.db'));
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        commits.durable(() => {
          const already = seenByOthers.prepare<[], number>('SELECT count(*) FROM secret').pluck().get();
          assert.equal(already, 0, 'nothing is visible before the commit');
          return keep(name);
        }),
      ),
    );
    seenByOthers.close();
    assert.deepEqual(answers, ['a', 'b', 'c']);
    assert.deepEqual(kept(), ['a', 'b', 'c']);
  });

  it('syncs only commits that contain a durable write', async () => {
    assert.equal(await commits.durable(synchronous), full);
    assert.equal(await commits.unsynced(synchronous), normal);
    assert.deepEqual(await Promise.all([commits.unsynced(synchronous), commits.durable(synchronous)]), [
      full,
      full,
    ]);
    assert.equal(await commits.unsynced(synchronous), normal);
  });

  it('gathers durable writes after a slow sync for as long as it took, and lets other writes pass', async () => {
    let syncMs = 5;
    const slow = { wall: () => wall, steady: () => (database.inTransaction ? steady : steady + syncMs) };
    commits = new CommitQueue(database, slow);
    const order: string[] = [];
    const commit = (name: string, kind: 'durable' | 'unsynced') =>
      commits[kind](() => keep(name)).then(() => order.push(name));
    await commit('slow', 'durable');
    syncMs = 0;
    steady += 6;
    const gathered = ['a', 'b'].map((name) => commit(name, 'durable'));
    await commit('count', 'unsynced');
    assert.deepEqual(order, ['slow', 'count']);
    await Promise.all(gathered);
    assert.deepEqual(order, ['slow', 'count', 'a', 'b']);
    steady += 100;
    await Promise.all([commit('late', 'durable'), new Promise(setImmediate)]);
    assert.equal(order.at(-1), 'late');
  });

  it('rolls back only the write that fails', async () => {
    const results = await Promise.allSettled([
      commits.durable(() => keep('a')),
      commits.durable(() => {
        keep('b');
        throw new Error('on purpose');
      }),
      commits.durable(() => keep('c')),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(kept(), ['a', 'c']);
  });

  it('rejects every write of a commit that fails, keeps none of them, and works again afterwards', async () => {
    const blocker = openDatabase(join(folder, 'x.db'));
    database.pragma('busy_timeout = 1');
    blocker.exec('BEGIN IMMEDIATE');
    const results = await Promise.allSettled(['a', 'b'].map((name) => commits.durable(() => keep(name))));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    blocker.exec('ROLLBACK');
    blocker.close();
    assert.deepEqual(kept(), []);
    assert.equal(await commits.durable(() => keep('c')), 'c');
  });

  it('never dates a commit before an earlier one, also after a restart with the clock set back', async () => {
    assert.equal(await commits.durable((clock) => clock.now()), 1000);
    assert.equal(await commits.durable((clock) => clock.now()), 1000);
    assert.equal(await commits.durable((clock) => clock.after()), 1001);
    wall = 10;
    assert.equal(await commits.durable((clock) => clock.now()), 1002);
    const restarted = new CommitQueue(database, { wall: () => 10, steady: () => 0 });
    assert.equal(await restarted.durable((clock) => clock.now()), 1003);
    wall = 2000;
    assert.equal(await commits.durable((clock) => clock.after()), 2000);
    assert.equal(await commits.durable((clock) => clock.after(clock.now())), 2001);
    assert.equal(await commits.durable((clock) => clock.now()), 2002);
  });
});
