import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounting } from '../../../testing/contract/account-fixture.ts';
import {
  fakeHash,
  granted,
  newFollowUp,
  newThread,
  note,
  strangers,
} from '../../../testing/contract/fixture.ts';
import { openPostgresWorld, type PostgresWorld } from '../../../testing/contract/postgres-world.ts';
import type { PersonAuthority } from '../../domain/authority.ts';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';

describe('A write that waits for its organization’s row', () => {
  let { world, operator, untilWaiting, close } = {} as PostgresWorld;
  before(async () => {
    ({ world, operator, untilWaiting, close } = await openPostgresWorld());
  });
  after(() => close?.());

  type Write = (
    organization: OrganizationId,
    authority: PersonAuthority,
    thread: ThreadId,
  ) => Promise<unknown>;
  const writes: Record<string, Write> = {
    create: (organization, authority) =>
      world.store.createThread(organization, newThread(authority.userId), authority),
    'create with an idempotency key': (organization, authority) => {
      const idempotency = { key: 'k', bodyHash: fakeHash(9), keepMs: 1000 };
      return world.store.createThread(organization, newThread(authority.userId, { idempotency }), authority);
    },
    rename: (organization, authority, thread) =>
      world.store.renameThread(organization, thread, 'Late', authority),
    delete: (organization, authority, thread) =>
      world.store.deleteThread(organization, thread, note('thread.deleted', thread, { authority })),
  };

  for (const [name, write] of Object.entries(writes)) {
    it(`sees a revocation that was committed while it waited: ${name}`, async () => {
      const organization = await world.organization();
      const userId = await world.member(organization);
      const { id: thread } = await world.thread(organization, userId);
      const before = await world.store.getThread(organization, thread);
      const key = { id: strangers.key(), name: '', userId, hash: fakeHash(1), hint: '', createdBy: null };
      await operator.query('DELETE FROM api_key');
      assert.equal(await world.store.createApiKey(organization, key, note()), 'created');
      await operator.query('BEGIN');
      await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      const written = write(organization, { kind: 'key', userId, keyHash: key.hash }, thread);
      await untilWaiting();
      assert.equal(await world.store.revokeApiKey(organization, key.id, note()), 'revoked');
      await operator.query('COMMIT');
      assert.equal(await written, 'unauthorized');
      assert.deepEqual(await world.walk(organization, { userId }), [thread]);
      assert.deepEqual(await world.store.getThread(organization, thread), before);
    });
  }

  /** A person who is signed in and has a thread. */
  async function signedIn() {
    const people = new Accounting(world);
    const organization = await world.organization();
    const userId = await people.add(organization, `${strangers.user()}@example.org`);
    const session = await people.enter(organization, userId);
    const { id: thread } = await world.thread(organization, userId);
    return { organization, userId, session, thread };
  }

  it('creates the thread of a member who was removed and added again while it waited', async () => {
    for (const change of [{}, { idempotency: { key: 'k', bodyHash: fakeHash(9), keepMs: 1000 } }]) {
      const { organization, userId, session } = await signedIn();
      await operator.query('BEGIN');
      await operator.query(
        `WITH removed AS (DELETE FROM member WHERE user_id = $1 RETURNING *)
         INSERT INTO member SELECT * FROM removed`,
        [userId],
      );
      const created = world.store.createThread(organization, newThread(userId, change), session);
      await untilWaiting();
      await operator.query('COMMIT');
      assert.equal(granted(await created).outcome, 'created');
    }
  });

  const consoleWrites: Record<string, Write> = {
    ...writes,
    publish: (organization, authority, thread) =>
      world.store.setThreadPublished(
        organization,
        thread,
        true,
        note('thread.published', thread, { authority }),
      ),
    stop: (organization, authority, thread) => world.store.cancelReplies(organization, thread, authority),
  };

  for (const [name, write] of Object.entries(consoleWrites)) {
    it(`sees that its member was removed while it waited: ${name}`, async () => {
      const { organization, userId, session, thread } = await signedIn();
      const before = await world.store.getThread(organization, thread);
      await operator.query('BEGIN');
      await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      await operator.query('DELETE FROM member WHERE organization_id = $1', [organization]);
      const written = write(organization, session, thread);
      await untilWaiting();
      await operator.query('COMMIT');
      assert.equal(await written, 'unauthorized');
      assert.deepEqual(await world.walk(organization, { userId }), [thread]);
      assert.deepEqual(await world.store.getThread(organization, thread), before);
    });
  }

  it('sees that its member was removed while it waited: follow-up', async () => {
    const { organization, session, thread } = await signedIn();
    await world.store.cancelReplies(organization, thread, session);
    await operator.query('BEGIN');
    await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
    const written = world.store.addReply(organization, thread, newFollowUp(), session);
    await untilWaiting();
    await operator.query('DELETE FROM member WHERE organization_id = $1', [organization]);
    await operator.query('COMMIT');
    assert.equal(await written, 'unauthorized');
    assert.equal((await world.store.getThread(organization, thread))?.messages.length, 2);
  });
});
