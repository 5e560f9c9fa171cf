import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { runSkein, Service, temporaryFolder } from '../../harness/service/service.ts';
import { prepareStore, startWorld, type World } from '../../harness/world/world.ts';
import { assertDown, assertRecovers, createUntilRefused, readiness } from './store-disk.ts';

const withMetrics = { SKEIN_METRICS_PORT: '0' };

describe('A store whose files are moved under a running service', () => {
  let world: World;
  let data: string;
  before(async () => {
    world = await startWorld(withMetrics);
    data = join(world.service.folder, 'data');
  });
  after(() => world.end());

  it('acknowledges no write that a restart would lose, and resumes when they are back', async () => {
    const { service, ada } = world;
    const creating = createUntilRefused(ada);
    await eventually(async () => (await ada.list({ limit: 3 })).body?.threads?.length === 3);
    renameSync(data, `${data}.away`);
    const acknowledged = await creating;
    assert.deepEqual(
      await assertDown(service, ada, /skein\.db(-wal|-shm)? was deleted, moved or replaced.*put it back/),
      [],
    );
    assert.equal((await ada.list()).status, 500, 'a read that cannot be counted against the quota');
    assert.deepEqual(readdirSync(service.folder), ['data.away'], 'nothing new was made in its place');
    const doctor = await runSkein(service.folder, ['doctor']);
    assert.equal(doctor.exitCode, 1);
    assert.match(doctor.stdout, /^FAIL {2}store .*does not exist/m);
    renameSync(`${data}.away`, data);
    await assertRecovers(service, ada, acknowledged);
  });

  it('is detected without any request, within a second or two', async () => {
    const { service } = world;
    const reports = () => service.output.filter((line) => line.includes('store is rejecting writes')).length;
    const before = reports();
    renameSync(data, `${data}.away`);
    await eventually(() => reports() === before + 1);
    renameSync(`${data}.away`, data);
    await eventually(async () => (await readiness(service)) === 200);
  });

  for (const lost of ['skein.db', 'skein.db-wal', 'skein.db-shm']) {
    it(`is not ready while a copy replaces ${lost}`, async () => {
      const file = join(data, lost);
      renameSync(file, `${file}.away`);
      cpSync(`${file}.away`, file);
      assert.equal(await readiness(world.service), 503);
      assert.equal((await world.ada.create({ prompt: 'Where does this go?' })).status, 500);
      renameSync(`${file}.away`, file);
      assert.equal(await readiness(world.service), 200);
      assert.equal((await world.ada.create({ prompt: 'Here it stays.' })).status, 201);
    });
  }
});

describe('A store that is lost under a running service', () => {
  it('acknowledges nothing once its folder is deleted', async () => {
    const { service, ada } = await startWorld(withMetrics);
    const creating = createUntilRefused(ada);
    await eventually(async () => (await ada.list({ limit: 3 })).body?.threads?.length === 3);
    rmSync(join(service.folder, 'data'), { recursive: true });
    await creating;
    assert.deepEqual(await assertDown(service, ada, /skein\.db.* was deleted, moved or replaced/), []);
    assert.equal(await service.end(), 0);
    assert.deepEqual(readdirSync(service.folder), []);
  });

  it('keeps the process alive when its file is truncated', async () => {
    for (const length of [0, 8192]) {
      const { service, ada } = await startWorld(withMetrics);
      assert.equal((await ada.create({ prompt: 'Soon gone.' })).status, 201);
      truncateSync(join(service.folder, 'data/skein.db'), length);
      assert.deepEqual(await assertDown(service, ada, /skein\.db was truncated.*restore a backup/), []);
      assert.equal(await service.end('SIGKILL'), 'SIGKILL', 'it lived until now');
    }
  });

  it('acknowledges nothing once a backup overwrites its file, and starts when the backup is restored again', async () => {
    const { service, ada, adaKey } = await startWorld(withMetrics);
    const { body } = await ada.create({ prompt: 'In the backup.' });
    const { folder } = service;
    const backup = join(folder, 'backup.db');
    await service.skein('backup', backup);
    copyFileSync(backup, join(folder, 'data/skein.db'));
    assert.deepEqual(
      await assertDown(service, ada, /skein\.db was overwritten .*restore the backup again/),
      [],
    );
    assert.equal(await service.end('SIGKILL'), 'SIGKILL');

    copyFileSync(backup, join(folder, 'data/skein.db'));
    const refused = await serveAndFail(folder, {});
    assert.equal(refused.exitCode, 1);
    assert.match(
      refused.stderr,
      /it is a backup, but \S+skein\.db-wal belongs to the previous store: remove that file/,
    );
    rmSync(join(folder, 'data/skein.db-wal'));
    const restored = await Service.start({ folder, environment: { SKEIN_MODEL: 'scripted' } });
    assert.equal((await new Api(restored.baseUrl, adaKey.key).get(body.thread.id)).status, 200);
    assert.equal(await restored.end(), 0);
  });

  it('is found through a symbolic link, and is missing when the link points elsewhere', async () => {
    const { folder, adaKey } = await prepareStore();
    renameSync(join(folder, 'data'), join(folder, 'disk-1'));
    symlinkSync('disk-1', join(folder, 'data'));
    const service = await Service.start({ folder, environment: { SKEIN_MODEL: 'scripted', ...withMetrics } });
    const api = new Api(service.baseUrl, adaKey.key);
    const { body } = await api.create({ prompt: 'Through the link.' });
    assert.equal(await readiness(service), 200);
    cpSync(join(folder, 'disk-1'), join(folder, 'disk-2'), { recursive: true });
    const pointTo = (target: string) => {
      symlinkSync(target, join(folder, 'next'));
      renameSync(join(folder, 'next'), join(folder, 'data'));
    };
    pointTo('disk-2');
    assert.deepEqual(await assertDown(service, api, /was deleted, moved or replaced/), []);
    pointTo('disk-1');
    await assertRecovers(service, api, [body.thread.id]);
    assert.equal(await service.end(), 0);
  });
});

describe('A command in a folder without a store', () => {
  it('says so in one sentence and creates nothing', async () => {
    const folder = temporaryFolder();
    const commands = [
      ['org', 'list'],
      ['member', 'add', 'Acme', 'ada@acme.example'],
      ['doc', 'add', 'Acme', '.'],
      ['signing-key', 'rotate'],
      ['backup', 'copy.db'],
    ];
    for (const words of commands) {
      const { exitCode, stdout, stderr } = await runSkein(folder, words);
      assert.equal(exitCode, 1, words.join(' '));
      assert.equal(stdout, '');
      assert.match(
        stderr,
        /^skein: [^\n]*data\/skein\.db[^\n]*SKEIN_DATABASE_URL[^\n]*\n$|^skein: SKEIN_DATABASE_URL points to [^\n]*data\/skein\.db, which does not exist or is empty: run [^\n]*\n$/,
      );
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  it('leaves an empty file empty', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'empty.db'), '');
    const { exitCode, stderr } = await runSkein(folder, ['org', 'list'], {
      SKEIN_DATABASE_URL: 'sqlite:./empty.db',
    });
    assert.equal(exitCode, 1);
    assert.match(stderr, /empty\.db, which does not exist or is empty: run /);
    assert.deepEqual(readdirSync(folder), ['empty.db']);
    assert.equal(statSync(join(folder, 'empty.db')).size, 0);
  });
});
