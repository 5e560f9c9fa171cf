import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { hashOf, newThread, note, strangers, World } from '../../../testing/contract/fixture.ts';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import { openPostgresStore } from './open.ts';

describe('A write that waits for its organization’s row', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let world: World;
  let holder: pg.Client;
  before(async () => {
    database = await openTestDatabase();
    world = await World.open((clock) => openPostgresStore(database.url, poolSettings, clock));
    holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
  });
  after(async () => {
    await holder.end();
    await world.close();
    await database.close();
  });

  async function untilWaiting(): Promise<void> {
    let waiting = 0;
    while (waiting === 0) {
      // Within a transaction, PostgreSQL caches the activity that it read first.
      await holder.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await holder.query(`SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      waiting = rows[0].waiting;
    }
  }

  type Write = (organization: OrganizationId, user: UserId, thread: ThreadId) => Promise<{ outcome: string }>;
  const writes: Record<string, Write> = {
    create: (organization, userId) =>
      world.store.createThread(organization, newThread(userId, { keyHash: hashOf(1) })),
    'create with an idempotency key': (organization, userId) => {
      const idempotency = { key: 'k', bodyHash: hashOf(9), keepMs: 1000 };
      return world.store.createThread(organization, newThread(userId, { keyHash: hashOf(1), idempotency }));
    },
    rename: (organization, userId, thread) =>
      world.store.renameThread(organization, thread, { userId, keyHash: hashOf(1) }, 'Late'),
    delete: (organization, userId, thread) =>
      world.store.deleteThread(organization, thread, { userId, keyHash: hashOf(1) }, note()),
  };

  for (const [name, write] of Object.entries(writes)) {
    it(`sees a revocation that was committed while it waited: ${name}`, async () => {
      const organization = await world.organization();
      const userId = await world.member(organization);
      const { id: thread } = await world.thread(organization, userId);
      const key = { id: strangers.key(), name: '', userId, hash: hashOf(1), hint: '', createdBy: null };
      await holder.query('DELETE FROM api_key');
      assert.equal(await world.store.createApiKey(organization, key, note()), 'created');
      await holder.query('BEGIN');
      await holder.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      const written = write(organization, userId, thread);
      await untilWaiting();
      assert.equal(await world.store.revokeApiKey(organization, key.id, note()), 'revoked');
      await holder.query('COMMIT');
      assert.deepEqual(await written, { outcome: 'revoked' });
      assert.deepEqual(await world.walk(organization, { userId }), [thread]);
    });
  }
});
