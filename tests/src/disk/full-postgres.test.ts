import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { SmallDisk, skipWithoutMounts } from '../../harness/disk/small-disk.ts';
import { Nodes } from '../../harness/nodes/nodes.ts';
import { findInstallation } from '../../harness/postgres/installation.ts';
import { type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { runSkein, temporaryFolder } from '../../harness/service/service.ts';
import { assertDown, assertRecovers, createUntilRefused } from './store-disk.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server?.remove());

async function execute(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

describe('A store on PostgreSQL', () => {
  const skip = skipWithoutMounts;

  it('is unready while its disk is full, and ready again by itself, with every acknowledged write', {
    skip,
  }, async () => {
    const disk = new SmallDisk(24 * 1024);
    const folder = join(disk.folder, 'tablespace');
    mkdirSync(folder);
    const { runner } = findInstallation();
    // PostgreSQL refuses root, and reaches the folder through its parent.
    for (const path of [disk.folder, folder]) chownSync(path, runner.uid ?? -1, runner.gid ?? -1);
    await execute(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await execute('CREATE DATABASE crowded TABLESPACE small');
    const nodes = await Nodes.prepare(
      { SKEIN_METRICS_PORT: '0' },
      server.url.replace(/postgres$/, 'crowded'),
    );
    const service = await nodes.start();
    const api = nodes.ada(service);
    const { body } = await api.create({ prompt: '#say Half of it.\n#wait 1000\n#say The rest.' });
    disk.fill();
    const acknowledged = [body.thread.id, ...(await createUntilRefused(api))];
    acknowledged.push(...(await assertDown(service, api, /No space left on device/)));
    disk.makeRoom();
    await assertRecovers(service, api, acknowledged);
    assert.equal(await service.end(), 0);
  });

  it('is not created by a command that finds an empty database', async () => {
    await execute('CREATE DATABASE empty');
    const environment = { SKEIN_DATABASE_URL: server.url.replace(/postgres$/, 'empty') };
    const { exitCode, stderr } = await runSkein(temporaryFolder(), ['org', 'list'], environment);
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^skein: SKEIN_DATABASE_URL points to a database that .*does not contain a Skein store[^\n]*\n$/,
    );
  });
});
