import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { authorizeWrites } from '../../../testing/authorize-writes.ts';
import { Accounting, email } from '../../../testing/contract/account-fixture.ts';
import { loggedRequest, operator, trafficReport, World } from '../../../testing/contract/fixture.ts';
import { createIdGenerator, type OrganizationId } from '../../domain/id.ts';
import { mailCounters } from '../../domain/mail.ts';
import { retentionMs } from '../../domain/retention.ts';
import { noTelemetry } from '../../domain/telemetry.ts';
import { dayMs, hourMs, utcDay } from '../../domain/time.ts';
import type { Store } from '../../storage/port/store.ts';
import { newest } from '../../storage/sql/audit.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createPurges, type Purges } from './removal.ts';
import { createRetention } from './retention.ts';

/** An organization with one person, who has created a thread. */
async function openStore(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'skein-removal-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  t.after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const people = new Accounting(world);
  const organizationId = await world.organization();
  const userId = await people.add(organizationId, email);
  await world.thread(organizationId, userId);
  const person = { userId, email, mailCounters: mailCounters(email, (text) => text) };
  return { world, store: world.store, people, organizationId, userId, person };
}

const changeIn = (organizationId: OrganizationId) => {
  return { organizationId, initiator: { authority: operator, traceId: 't' } };
};

function openPurges(store: Store) {
  const ids = createIdGenerator(Date.now, randomBytes);
  return createPurges({ store, ids, sha256: (text) => text, authorize: authorizeWrites(store) });
}

test('a purge that was interrupted while it overwrote removed words can be run again', async (t) => {
  const { store, organizationId, person } = await openStore(t);
  const interrupted = { ...store, finishPurge: () => Promise.reject(new Error('killed')) };
  const purges = [
    (purges: Purges) => purges.purgePerson(changeIn(organizationId), person, async () => {}),
    (purges: Purges) => purges.purgeOrganization(organizationId, async () => {}),
  ];
  for (const [index, purge] of purges.entries()) {
    await assert.rejects(purge(openPurges(interrupted)), /killed/);
    assert.ok(await (index === 0 ? store.findUser(email) : store.findOrganization(organizationId)));
    assert.equal((await purge(openPurges(store))).journalEmptied, true);
  }
  assert.equal(await store.findUser(email), undefined);
  assert.equal(await store.findOrganization(organizationId), undefined);
});

test('a purge removes a person who joins again and creates a thread meanwhile', async (t) => {
  const { world, store, people, organizationId, userId, person } = await openStore(t);
  let joins = 0;
  const { rows } = await openPurges(store).purgePerson(changeIn(organizationId), person, async () => {
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

test('a purge deletes the threads of a person together, so that they share commits', async (t) => {
  const { world, store, organizationId, userId, person } = await openStore(t);
  for (let thread = 1; thread < 5; thread += 1) await world.thread(organizationId, userId);
  let [deleting, deletingAtOnce] = [0, 0];
  const watched: Store = {
    ...store,
    async deleteThread(...deletion) {
      deleting += 1;
      deletingAtOnce = Math.max(deletingAtOnce, deleting);
      return store.deleteThread(...deletion).finally(() => {
        deleting -= 1;
      });
    },
  };
  const { rows } = await openPurges(watched).purgePerson(changeIn(organizationId), person, async () => {});
  assert.deepEqual([deletingAtOnce, rows.thread], [5, 5]);
});

test('retention keeps what is dated by the clock of the machine, after that clock was ahead and corrected', async (t) => {
  const { world, store, organizationId, userId } = await openStore(t);
  const { clock } = world;
  clock.ms += 30 * dayMs;
  await world.thread(organizationId, userId);
  clock.ms -= 30 * dayMs;
  assert.ok((await store.clockAheadMs()) > 29 * dayMs);

  const day = utcDay(clock.ms);
  assert.equal((await world.use(organizationId, day)).remaining, 9);
  await store.addTraffic([trafficReport({ organizationId, hour: Math.floor(clock.ms / hourMs) })]);
  await store.addRequests([loggedRequest({ organizationId, at: clock.ms })]);
  const settings = { deletedThreads: 1, audit: 1, usage: 1, requests: 1, idempotency: 1, sessions: 1 };
  const retention = createRetention({ store, retentionMs: retentionMs(settings), telemetry: noTelemetry });
  const kinds = ['requests', 'traffic_hours', 'quota_days'];
  const countDue = async () =>
    (await retention.survey()).filter(({ kind }) => kinds.includes(kind)).map(({ due }) => due);
  assert.deepEqual(await countDue(), [0, 0, 0]);
  await retention.enforce(async () => true);
  assert.equal((await world.use(organizationId, day)).remaining, 8);
  assert.equal(
    (await store.listRequests(organizationId, { before: newest, since: 0, limit: 10 })).requests.length,
    1,
  );

  clock.pass(10 * dayMs);
  assert.deepEqual(await countDue(), [1, 1, 1]);
});
