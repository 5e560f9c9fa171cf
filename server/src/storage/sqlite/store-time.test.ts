import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommitQueue } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';

describe('The time of the embedded store', () => {
  let folder: string;
  let database: Database;
  let commits: CommitQueue;
  let wall: number;
  let steady: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-time-'));
    database = openDatabase(join(folder, 'x.db'));
    wall = 1000;
    steady = 0;
    commits = new CommitQueue(database, { wall: () => wall, steady: () => steady }, async () => {});
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('never dates a commit before an earlier one, even after a restart with the clock set back', async () => {
    assert.equal(await commits.durable((clock) => clock.now()), 1000);
    assert.equal(await commits.durable((clock) => clock.now()), 1000);
    assert.equal(await commits.durable((clock) => clock.after()), 1001);
    wall = 10;
    assert.equal(await commits.durable((clock) => clock.now()), 1002);
    const restarted = new CommitQueue(database, { wall: () => 10, steady: () => 0 }, async () => {});
    assert.equal(await restarted.durable((clock) => clock.now()), 1003);
    wall = 2000;
    assert.equal(await commits.durable((clock) => clock.after()), 2000);
    assert.equal(await commits.durable((clock) => clock.after(clock.now())), 2001);
    assert.equal(await commits.durable((clock) => clock.now()), 2002);
  });

  it('never returns an earlier time after a commit that fails while the clock is set back', async () => {
    await commits.durable((clock) => clock.now());
    wall = 10;
    steady = 1000;
    assert.equal(commits.now(), 1500);
    database.exec(
      'CREATE TABLE part (whole TEXT REFERENCES secret (name) DEFERRABLE INITIALLY DEFERRED) STRICT',
    );
    const failing = commits.durable((clock) => {
      clock.now();
      database.exec("INSERT INTO part VALUES ('missing')");
    });
    await assert.rejects(failing, /FOREIGN KEY/);
    assert.equal(commits.now(), 1500);
  });
});
