import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { by, hashOf, newFollowUp, newThread, note, strangers } from '../../../testing/contract/fixture.ts';
import { openPostgresWorld, type PostgresWorld } from '../../../testing/contract/postgres-world.ts';
import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';

describe('A write that waits for its organization’s row', () => {
  let { world, operator, untilWaiting, close } = {} as PostgresWorld;
  before(async () => {
    ({ world, operator, untilWaiting, close } = await openPostgresWorld());
  });
  after(() => close?.());

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
      await operator.query('DELETE FROM api_key');
      assert.equal(await world.store.createApiKey(organization, key, note()), 'created');
      await operator.query('BEGIN');
      await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      const written = write(organization, userId, thread);
      await untilWaiting();
      assert.equal(await world.store.revokeApiKey(organization, key.id, note()), 'revoked');
      await operator.query('COMMIT');
      assert.deepEqual(await written, { outcome: 'revoked' });
      assert.deepEqual(await world.walk(organization, { userId }), [thread]);
    });
  }

  it('creates the thread of a member who was removed and added again while it waited', async () => {
    for (const change of [{}, { idempotency: { key: 'k', bodyHash: hashOf(9), keepMs: 1000 } }]) {
      const organization = await world.organization();
      const userId = await world.member(organization);
      await operator.query('BEGIN');
      await operator.query(
        `WITH removed AS (DELETE FROM member WHERE user_id = $1 RETURNING *)
         INSERT INTO member SELECT * FROM removed`,
        [userId],
      );
      const created = world.store.createThread(organization, newThread(userId, change));
      await untilWaiting();
      await operator.query('COMMIT');
      assert.equal((await created).outcome, 'created');
    }
  });

  const noteBy = (userId: UserId) => note('thread.published', '', { actor: { kind: 'user', userId } });
  const consoleWrites: Record<string, (...ids: Parameters<Write>) => Promise<unknown>> = {
    publish: (organization, userId, thread) =>
      world.store.setThreadPublished(organization, thread, true, noteBy(userId)),
    rename: (organization, userId, thread) =>
      world.store.renameThread(organization, thread, by(userId), 'Late'),
    delete: (organization, userId, thread) =>
      world.store.deleteThread(organization, thread, by(userId), noteBy(userId)),
    stop: (organization, userId, thread) => world.store.cancelReplies(organization, thread, userId),
  };

  for (const [name, write] of Object.entries(consoleWrites)) {
    it(`sees that its member was removed while it waited: ${name}`, async () => {
      const organization = await world.organization();
      const userId = await world.member(organization);
      const { id: thread } = await world.thread(organization, userId);
      const before = await world.store.getThread(organization, thread);
      await operator.query('BEGIN');
      await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      await operator.query('DELETE FROM member WHERE organization_id = $1', [organization]);
      const written = write(organization, userId, thread);
      await untilWaiting();
      await operator.query('COMMIT');
      const refused: Record<string, unknown> = { publish: 'missing', stop: [] };
      assert.deepEqual(await written, refused[name] ?? { outcome: 'revoked' });
      assert.deepEqual(await world.store.getThread(organization, thread), before);
    });
  }

  it('sees that its member was removed while it waited: follow-up', async () => {
    const organization = await world.organization();
    const userId = await world.member(organization);
    const { id: thread } = await world.thread(organization, userId);
    await world.store.cancelReplies(organization, thread);
    await operator.query('BEGIN');
    await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
    const written = world.store.addReply(organization, thread, userId, newFollowUp());
    await untilWaiting();
    await operator.query('DELETE FROM member WHERE organization_id = $1', [organization]);
    await operator.query('COMMIT');
    assert.deepEqual(await written, { outcome: 'missing' });
    assert.equal((await world.store.getThread(organization, thread))?.messages.length, 2);
  });
});
