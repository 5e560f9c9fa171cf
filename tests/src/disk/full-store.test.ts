import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { SmallDisk, skipWithoutMounts } from '../../harness/disk/small-disk.ts';
import { Api } from '../../harness/http/api.ts';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { findProgram } from '../../harness/service/machine.ts';
import { operate, runSkein, Service, temporaryFolder } from '../../harness/service/service.ts';
import { prepareStore, startWorld } from '../../harness/world/world.ts';
import { assertDown, assertRecovers, createUntilRefused } from './store-disk.ts';

async function storeOn(disk: SmallDisk): Promise<{ key: string; environment: Record<string, string> }> {
  const { folder, adaKey } = await prepareStore();
  cpSync(join(folder, 'data'), disk.folder, { recursive: true });
  const environment = { SKEIN_DATABASE_URL: `sqlite:${disk.folder}/skein.db`, SKEIN_MODEL: 'scripted' };
  return { key: adaKey.key, environment };
}

const elsewhere = temporaryFolder();

async function collectFindings(environment: Record<string, string>): Promise<Record<string, string>> {
  const { exitCode, stdout, stderr } = await runSkein(elsewhere, ['doctor', '--json'], environment);
  assert.equal(exitCode, 1, stdout);
  assert.equal(stderr, '');
  const failed = JSON.parse(stdout).findings.filter(({ ok }: { ok: boolean }) => !ok);
  return Object.fromEntries(failed.map(({ check, detail }: Record<string, string>) => [check, detail]));
}

describe('A store on a full disk', { skip: skipWithoutMounts }, () => {
  it('is unready while writes fail, and ready again by itself, with every acknowledged write', async () => {
    const disk = new SmallDisk(2048);
    const { key, environment } = await storeOn(disk);
    const service = await Service.start({ environment: { ...environment, SKEIN_METRICS_PORT: '0' } });
    const api = new Api(service.baseUrl, key);
    // Its reply is running when the disk fills up, and ends while the disk is full.
    const { body } = await api.create({ prompt: '#say Half of it.\n#wait 1000\n#say The rest.' });
    disk.fill();
    const acknowledged = [body.thread.id, ...(await createUntilRefused(api))];
    assert.deepEqual(await assertDown(service, api, /disk is full/), []);
    assert.equal((await api.list()).status, 500, 'a read that cannot be counted against the quota');
    const found = await collectFindings(environment);
    assert.match(found.disk ?? '', /^[\d.]+ (?:bytes|kB) free .*free up space/);
    assert.match(found.sync ?? '', /^ENOSPC.*free up disk space/);

    disk.makeRoom();
    await assertRecovers(service, api, acknowledged);
    assert.equal(await service.end(), 0);
  });

  it('is named with a remedy by a command whose write finds no room', async () => {
    const disk = new SmallDisk(1024);
    const { environment } = await storeOn(disk);
    // SQLite needs room for an index of its journal to open the store.
    const open = new DatabaseSync(join(disk.folder, 'skein.db'));
    open.exec('BEGIN; SELECT count(*) FROM organization');
    disk.fill();
    const { exitCode, stderr } = await runSkein(elsewhere, ['org', 'create', 'Initech'], environment);
    open.close();
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^skein: [^\n]*skein\.db[^\n]*\(database or disk is full: free up disk space\)\.\n$/,
    );
  });

  it('ends a copy into it with the reason and a remedy', async () => {
    const disk = new SmallDisk(1024);
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'long.txt'), 'Every line of this text is stored.\n'.repeat(50_000));
    await operate(folder, ['org', 'create', 'Initech']);
    await operate(folder, ['doc', 'add', 'Initech', 'long.txt']);
    const to = `sqlite:${join(disk.folder, 'skein.db')}`;
    const words = ['copy', '--from', 'sqlite:./data/skein.db', '--to', to];
    const { exitCode, stderr } = await runSkein(folder, words);
    assert.equal(exitCode, 1);
    assert.equal(
      stderr,
      'skein: Copy failed (database or disk is full: free up disk space). Run the command again.\n',
    );
  });

  it('is reported by doctor when the disk is too full to open the store', async () => {
    const disk = new SmallDisk(1024);
    const { environment } = await storeOn(disk);
    disk.fill();
    const found = await collectFindings(environment);
    assert.match(found.store ?? '', /cannot be opened \(.*\)/);
    assert.match(found.sync ?? '', /^ENOSPC/);
  });
});

describe('A store on a read-only disk', { skip: skipWithoutMounts }, () => {
  it('is reported by doctor with findings, and by serve in one sentence', async () => {
    const disk = new SmallDisk(1024);
    const { environment } = await storeOn(disk);
    disk.makeReadOnly();
    const found = await collectFindings(environment);
    assert.match(found.sync ?? '', /^EROFS.*mount the disk for writing/);
    assert.match(found.store ?? '', /cannot be opened \(EROFS/);
    const { exitCode, stderr } = await serveAndFail(elsewhere, environment);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^skein: SKEIN_DATABASE_URL points to .*EROFS[^\n]*\n$/);
  });
});

describe('A store whose writes the operating system rejects', () => {
  const prlimit = findProgram('prlimit');
  const skip = prlimit === undefined && 'prlimit (util-linux) is not installed';

  it('is not ready in the meantime, and recovers by itself', { skip }, async () => {
    const world = await startWorld({ SKEIN_METRICS_PORT: '0' });
    const limitFileSize = (bytes: string) =>
      execFileSync(prlimit!, [`--pid=${world.service.pid}`, `--fsize=${bytes}:unlimited`]);
    const { body } = await world.ada.create({ prompt: '#wait 300\n#say Done.' });
    limitFileSize('1');
    const acknowledged = [body.thread.id, ...(await createUntilRefused(world.ada))];
    assert.deepEqual(await assertDown(world.service, world.ada, /disk I\/O error/), []);
    limitFileSize('unlimited');
    await assertRecovers(world.service, world.ada, acknowledged);
    await world.end();
    rmSync(world.service.folder, { recursive: true });
  });
});
