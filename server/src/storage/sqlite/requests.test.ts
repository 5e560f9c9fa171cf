import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { loggedRequest, World } from '../../../testing/contract/fixture.ts';
import { openSqliteStore } from './open.ts';

it('reads logged requests with the names of their fields, as they were stored at first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-requests-'));
  const file = join(folder, 'skein.db');
  const world = await World.open((clock) => openSqliteStore(file, clock));
  const organizationId = await world.organization();
  const request = loggedRequest({ organizationId, at: 1000 });
  const database = new Sqlite(file);
  database
    .prepare(
      'INSERT INTO request_block (organization_id, at, id, first_at, entries, requests) VALUES (?, ?, ?, ?, 1, ?)',
    )
    .run(organizationId, request.at, request.traceId, request.at, JSON.stringify([request]));
  database.close();
  const newest = { before: { at: Number.MAX_SAFE_INTEGER, id: '' }, since: 0, limit: 10 };
  assert.deepEqual((await world.store.listRequests(organizationId, newest)).requests, [request]);
  assert.deepEqual(await world.store.findRequest(organizationId, request.traceId), request);
  await world.close();
  rmSync(folder, { recursive: true });
});
