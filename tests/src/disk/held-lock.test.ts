import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { eventually } from '../../harness/service/eventually.ts';
import { startWorld } from '../../harness/world/world.ts';
import { readiness } from './store-disk.ts';

it('A service is not ready and rejects writes while another process keeps a transaction open', async () => {
  const world = await startWorld();
  const { service, ada } = world;
  const other = new DatabaseSync(join(service.folder, 'data/skein.db'), { timeout: 10_000 });
  other.exec('BEGIN IMMEDIATE');
  await eventually(async () => (await readiness(service)) === 503);
  const { status, body } = await ada.create({ prompt: 'Is anybody there?' });
  assert.equal(status, 500);
  assert.equal(body.error.code, 'INTERNAL_ERROR');
  other.close();
  await eventually(async () => (await readiness(service)) === 200);
  assert.equal((await ada.create({ prompt: 'Hello again.' })).status, 201);
  await world.end();
});
