import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommitQueue, type Scope } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';

/** Syncs that end when the test says so. */
class ManualSyncs {
  readonly #started: PromiseWithResolvers<void>[] = [];
  readonly sync = () => {
    const started = Promise.withResolvers<void>();
    this.#started.push(started);
    return started.promise;
  };

  get count(): number {
    return this.#started.length;
  }

  /** Ends the latest. */
  async end(error?: Error): Promise<void> {
    if (error === undefined) this.#started.at(-1)!.resolve();
    else this.#started.at(-1)!.reject(error);
    await nextTurn();
  }
}

/** The writes of this turn are committed, and every answer has arrived. */
async function nextTurn(): Promise<void> {
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

describe('The commit queue', () => {
  let folder: string;
  let database: Database;
  let commits: CommitQueue;
  let wall: number;
  let steady: number;
  const clock = { wall: () => wall, steady: () => steady };
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
    commits = new CommitQueue(database, clock, async () => {});
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('commits the writes of one turn together and resolves each', async () => {
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

  describe('with a slow disk', () => {
    let syncs: ManualSyncs;
    let failures: Error[];
    let order: string[];
    const commit = (name: string, kind: 'durable' | 'unsynced', scope?: Scope) => {
      const enqueue = () => commits[kind](() => keep(name));
      const kept = scope === undefined ? enqueue() : commits.inScope(scope, enqueue);
      return kept.then(
        () => order.push(name),
        () => order.push(`${name} failed`),
      );
    };

    beforeEach(() => {
      syncs = new ManualSyncs();
      failures = [];
      order = [];
      const watch = { syncFailed: (error: Error) => failures.push(error) };
      commits = new CommitQueue(database, clock, syncs.sync, watch);
    });

    it('resolves a durable write after a sync that started after its commit, and other writes at once', async () => {
      void commit('a', 'durable');
      void commit('count', 'unsynced');
      await nextTurn();
      assert.deepEqual(kept(), ['a', 'count']);
      assert.deepEqual(order, ['count']);
      void commit('b', 'durable');
      void commit('c', 'durable');
      void commit('later count', 'unsynced');
      await nextTurn();
      assert.deepEqual(kept(), ['a', 'count', 'later count'], 'b and c wait: they share the next sync');
      assert.equal(syncs.count, 1);
      await syncs.end();
      assert.deepEqual(order, ['count', 'later count', 'a']);
      assert.equal(syncs.count, 2);
      await syncs.end();
      assert.deepEqual(order, ['count', 'later count', 'a', 'b', 'c']);
    });

    it('commits many durable writes in several turns, which share a sync, and lets other writes through', async () => {
      let steadyMs = 0;
      commits = new CommitQueue(database, { ...clock, steady: () => steadyMs }, syncs.sync);
      const thread = { organizationId: 'org_a', threadId: 'thr_1' };
      const slow = (name: string, scope?: Scope) => {
        const enqueue = () =>
          commits.durable(() => {
            steadyMs += 3;
            return order.push(keep(name));
          });
        return scope === undefined ? enqueue() : commits.inScope(scope, enqueue);
      };
      const answered = [slow('a', thread), slow('b', thread), slow('c', thread)];
      void commit('count', 'unsynced');
      await new Promise(setImmediate);
      assert.deepEqual(order, ['count', 'a'], 'b and c leave the turn to others');
      assert.notEqual(commits.whenSynced(thread), undefined, 'a is committed, and its sync has yet to start');
      assert.equal(syncs.count, 0);
      void commit('later count', 'unsynced');
      await nextTurn();
      assert.deepEqual(order, ['count', 'a', 'later count', 'b', 'c']);
      assert.equal(syncs.count, 1);
      await syncs.end();
      await Promise.all(answered);
      assert.equal(commits.whenSynced(thread), undefined);
    });

    describe('and writes of 3 ms', () => {
      const createScope = (place: number) => ({ organizationId: 'org_a', threadId: `thr_${place}` });
      const slowWrite = async (place: number) => {
        const enqueue = () =>
          commits.durable(() => {
            steady += 3;
            return keep(`${place}`);
          });
        order.push(await commits.inScope(createScope(place), enqueue));
      };
      const slowWrites = (count: number) => Array.from({ length: count }, (_, place) => slowWrite(place));
      const turns = async (count: number) => {
        for (let turn = 0; turn < count; turn += 1) await nextTurn();
      };
      const isSynced = (place: number) => commits.whenSynced(createScope(place)) === undefined;

      it('commits many while a sync runs, and answers and shows them only after the next sync', async () => {
        const writes = slowWrites(20);
        await turns(20);
        assert.equal(syncs.count, 1, 'it started after the first commit');
        assert.equal(kept().length, 13, 'the last seven wait: they are too few for a commit of their own');
        assert.deepEqual([isSynced(0), isSynced(12)], [false, false]);
        await syncs.end();
        assert.deepEqual(order, ['0']);
        assert.deepEqual([isSynced(0), isSynced(12)], [true, false]);
        await turns(20);
        assert.equal(kept().length, 20);
        assert.equal(syncs.count, 2, 'it waited for the seven');
        await syncs.end();
        await Promise.all(writes);
        assert.equal(isSynced(12), true);
      });

      it('starts a sync even while a few keep arriving', async () => {
        const writes = slowWrites(7);
        while (syncs.count === 0) {
          await new Promise(setImmediate);
          writes.push(slowWrite(writes.length));
          assert(writes.length < 20);
        }
        const drained = commits.drain();
        await syncs.end();
        await syncs.end();
        await drained;
        await Promise.all(writes);
      });

      it('fails all that were committed while a sync failed', async () => {
        const outcomes = Promise.allSettled(slowWrites(20));
        await turns(20);
        assert.equal(kept().length, 13);
        const read = assert.rejects(commits.whenSynced(createScope(12))!, /EIO/);
        await syncs.end(new Error('EIO'));
        await read;
        assert((await outcomes).every(({ status }) => status === 'rejected'));
        assert.equal(syncs.count, 1);
      });
    });

    it('resolves many durable writes in several turns', async () => {
      const answered: number[] = [];
      const writes = Array.from({ length: 40 }, (_, place) =>
        commits.durable(() => place).then((value) => answered.push(value)),
      );
      await nextTurn();
      const ended = syncs.end();
      while (answered.length === 0) await new Promise(setImmediate);
      assert.equal(answered.length, 8);
      await ended;
      await Promise.all(writes);
      assert.deepEqual(
        answered,
        Array.from({ length: 40 }, (_, place) => place),
      );
    });

    it('does not sync commits without a durable write', async () => {
      await commit('count', 'unsynced');
      assert.equal(syncs.count, 0);
    });

    it('holds back a read until everything that it may have seen is synced', async () => {
      const ours = { organizationId: 'org_a' };
      const thread = { ...ours, threadId: 'thr_1' };
      const others = { organizationId: 'org_b' };
      void commit('renamed', 'durable', thread);
      await nextTurn();
      const reads = [thread, ours, { ...ours, threadId: 'thr_2' }, { ...others, threadId: 'thr_3' }, others];
      assert.deepEqual(
        reads.map((scope) => commits.whenSynced(scope) !== undefined),
        [true, true, false, false, false],
      );
      const seen = commits.whenSynced(thread)!.then(() => order.push('read'));
      await syncs.end();
      await seen;
      assert.deepEqual(order, ['renamed', 'read']);
      assert.equal(commits.whenSynced(thread), undefined);

      void commit('key', 'durable', ours);
      await nextTurn();
      assert.notEqual(
        commits.whenSynced(thread),
        undefined,
        'a write to the organization may change its threads',
      );
      assert.equal(commits.whenSynced(others), undefined);
      await syncs.end();

      void commit('sweep', 'durable');
      await nextTurn();
      assert.notEqual(commits.whenSynced(others), undefined, 'a write without a scope may change anything');
      await syncs.end();
    });

    it('never acknowledges a write whose sync failed, nor any later one', async () => {
      const scope = { organizationId: 'org_a' };
      void commit('lost', 'durable', scope);
      await nextTurn();
      const read = assert.rejects(commits.whenSynced(scope)!, /EIO/);
      await syncs.end(new Error('EIO'));
      await read;
      assert.deepEqual(order, ['lost failed']);
      assert.deepEqual(
        failures.map(({ message }) => message),
        ['EIO'],
      );
      await commit('next', 'durable');
      assert.deepEqual(order, ['lost failed', 'next failed']);
      assert.equal(syncs.count, 1, 'a second sync could succeed without writing what the first lost');
      await assert.rejects(commits.whenSynced(scope)!, /EIO/);
    });

    it('commits nothing while it is held', async () => {
      const released = Promise.withResolvers<void>();
      const held = commits.hold(() => released.promise);
      void commit('a', 'unsynced');
      await nextTurn();
      assert.deepEqual(kept(), []);
      released.resolve();
      await held;
      await nextTurn();
      assert.deepEqual(order, ['a']);
    });

    it('commits and syncs what is waiting when it is drained', async () => {
      void commit('a', 'durable');
      await nextTurn();
      void commit('b', 'durable');
      const drained = commits.drain().then(() => order.push('drained'));
      await syncs.end();
      await syncs.end();
      await drained;
      assert.deepEqual(order, ['a', 'b', 'drained']);
    });
  });

  describe('while another process holds the write lock', () => {
    let other: Database;

    beforeEach(() => {
      other = openDatabase(join(folder, 'x.db'));
      other.exec('BEGIN IMMEDIATE');
    });
    afterEach(() => other.close());

    it('does not block the event loop, and commits when the lock is free', async () => {
      const write = commits.durable(() => keep('a'));
      let isAnswered = false;
      void write.then(() => {
        isAnswered = true;
      });
      await nextTurn();
      assert.equal(isAnswered, false);
      assert.doesNotThrow(() => commits.assertWritable());
      other.exec('ROLLBACK');
      assert.equal(await write, 'a');
      assert.deepEqual(kept(), ['a']);
    });

    it('reports it after a second, and fails writes after five until the lock is free', async () => {
      commits.assertWritable();
      steady += 1000;
      assert.throws(() => commits.assertWritable(), /another process/);
      const write = commits.durable(() => keep('a'));
      steady += 4000;
      await assert.rejects(write, { code: 'SQLITE_BUSY' });
      await assert.rejects(
        commits.unsynced(() => keep('b')),
        { code: 'SQLITE_BUSY' },
      );
      other.exec('ROLLBACK');
      commits.assertWritable();
      assert.equal(await commits.durable(() => keep('c')), 'c');
      assert.deepEqual(kept(), ['c']);
    });
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

  for (const kind of ['durable', 'unsynced'] as const) {
    it(`applies ${kind} writes once if another of their batch fails, although they run again`, async () => {
      database.exec('CREATE TABLE applied (name TEXT)');
      let runs = 0;
      const apply = (name: string) => {
        runs += 1;
        database.prepare('INSERT INTO applied VALUES (?)').run(name);
        if (name === 'failing') throw new Error('on purpose');
      };
      const names = ['a', 'b', 'failing', 'c'];
      await Promise.allSettled(names.map((name) => commits[kind](() => apply(name))));
      assert.deepEqual(database.prepare('SELECT name FROM applied').pluck().all(), ['a', 'b', 'c']);
      assert.equal(runs, 3 + names.length);
    });
  }

  it('rejects every write of a commit that fails, keeps none of them, and works again afterwards', async () => {
    const blocker = openDatabase(join(folder, 'x.db'));
    blocker.exec('BEGIN IMMEDIATE');
    const writes = Promise.allSettled(['a', 'b'].map((name) => commits.durable(() => keep(name))));
    await nextTurn();
    steady += 5000;
    const results = await writes;
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    blocker.exec('ROLLBACK');
    blocker.close();
    assert.deepEqual(kept(), []);
    assert.equal(await commits.durable(() => keep('c')), 'c');
  });
});
