import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Accounting, email } from '../../../testing/contract/account-fixture.ts';
import { World } from '../../../testing/contract/fixture.ts';
import { createIdGenerator } from '../../domain/id.ts';
import { mailCounters } from '../../domain/mail.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import type { Context } from '../context.ts';
import type { Change } from './audit-log.ts';
import { purgePerson } from './removal.ts';

test('a purge removes a person who joins again and creates a thread meanwhile', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-removal-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  t.after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { store } = world;
  const people = new Accounting(world);
  const organizationId = await world.organization();
  const userId = await people.add(organizationId, email);
  await world.thread(organizationId, userId);
  const context = { store, ids: createIdGenerator(Date.now, randomBytes) } as Partial<Context> as Context;
  const change: Change = {
    context,
    organizationId,
    initiator: { actor: { kind: 'operator' }, traceId: 't' },
  };
  const person = { userId, email, mailCounters: mailCounters(email, (text) => text) };
  let joins = 0;
  const { rows } = await purgePerson(change, person, async () => {
    if (joins === 2 || (await store.findMemberById(organizationId, userId))) return;
    joins += 1;
    assert.equal(await people.add(organizationId, email), userId);
    await world.thread(organizationId, userId);
  });
  assert.equal(joins, 2);
  assert.deepEqual([rows.member, rows.thread, rows.message], [3, 3, 6]);
  assert.equal(await store.findUser(email), undefined);
  assert.deepEqual(await world.walk(organizationId, { userId }), []);
  const { size } = await store.beginWalk(organizationId, { userId }, 1);
  assert.equal(size, 0);
  const log = JSON.stringify((await store.listAudit(organizationId, { limit: 100 })).events);
  assert.ok(log.includes('usr_purged') && !log.includes(userId), log);
});
