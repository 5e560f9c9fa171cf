import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { openDatabase } from './database.ts';
import { openSqliteStore } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-checkpoints-'));
after(() => rmSync(folder, { recursive: true, force: true }));

it('The journal starts over while writes never stop, and no commit waits for a checkpoint', async () => {
  const file = join(folder, 'x.db');
  openDatabase(file).close();
  const store = openSqliteStore(file);
  const journal = openSync(`${file}-wal`, 'r');
  /** Changes when the journal starts over: https://www.sqlite.org/fileformat.html#the_write_ahead_log. */
  const sequence = () => {
    const header = Buffer.alloc(16);
    readSync(journal, header, 0, header.length, 0);
    return header.readUInt32BE(12);
  };
  /** The file never becomes shorter. */
  const frames = () => fstatSync(journal).size / 4120;
  let long: number | undefined;
  /** A journal that is still short may start over by itself, when writes pause for a moment. */
  const longJournalStartedOver = () => {
    if (frames() > 8000) long ??= sequence();
    return long !== undefined && sequence() !== long;
  };
  const value = new Uint8Array(20_000);
  let written = 0;
  const write = async () => {
    while (!longJournalStartedOver()) {
      written += 1;
      await store.secret(`secret-${written}`, value);
    }
  };
  try {
    await Promise.all(Array.from({ length: 16 }, write));
    assert.ok(frames() < 32_000, `${frames()} frames: the commit itself ran the checkpoint`);
  } finally {
    closeSync(journal);
    await store.close();
  }
  assert.equal(statSync(`${file}-wal`, { throwIfNoEntry: false }), undefined, 'every connection was closed');
  const reopened = openDatabase(file);
  assert.equal(reopened.prepare('SELECT count(*) FROM secret').pluck().get(), written);
  reopened.close();
});

it('A process closes the store properly even if nothing else keeps the process running', () => {
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(import.meta.resolve('./open.ts'))});
    const store = openSqliteStore(${JSON.stringify(join(folder, 'closed.db'))});
    for (let place = 0; place < 300; place += 1) await store.secret('s' + place, new Uint8Array(20_000));
    await store.close();
    console.log('closed');`;
  const args = ['--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['closed\n', 0], stderr);
});
