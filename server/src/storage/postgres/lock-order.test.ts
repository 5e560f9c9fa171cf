import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Accounting, bySession } from '../../../testing/contract/account-fixture.ts';
import { fakeHash, granted, newThread, note, noteBy, strangers } from '../../../testing/contract/fixture.ts';
import { openPostgresWorld, type PostgresWorld } from '../../../testing/contract/postgres-world.ts';
import type { SessionAuthority } from '../../domain/authority.ts';
import type { UserId } from '../../domain/id.ts';

describe('A lock that another transaction holds', () => {
  let { operator, world, untilWaiting, whileLocked, close } = {} as PostgresWorld;
  before(async () => {
    ({ operator, world, untilWaiting, whileLocked, close } = await openPostgresWorld());
  });
  after(() => close?.());

  it('that deadlocks with a write delays it', async () => {
    const { store } = world;
    const organization = await world.organization();
    const userId = await world.member(organization);
    const { id } = await world.thread(organization, userId);
    for (const [table, write, outcome] of [
      ['thread', () => store.setThreadPublished(organization, id, true, note()), 'done'],
      ['member', () => store.setMemberRole(organization, userId, 'admin', note()), 'changed'],
    ] as const) {
      let written: Promise<string> | undefined;
      await whileLocked(table, organization, async () => {
        written = write();
        await untilWaiting();
        await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      });
      assert.equal(await written, outcome);
    }
  });

  it('that deadlocks with a purge of a person delays one step of it', async () => {
    const { store } = world;
    const organization = await world.organization();
    const email = 'purged@example.org';
    const userId = await world.member(organization, email);
    const { id } = await world.thread(organization, userId);
    await store.deleteThread(organization, id, noteBy(userId));
    await store.removeMember(organization, email, false, note());
    const counters = { invitations: userId, passwordLinks: userId };
    let step: ReturnType<typeof store.purgePerson> | undefined;
    await whileLocked('message', organization, async () => {
      step = store.purgePerson(organization, { userId, email, mailCounters: counters });
      await untilWaiting();
      await operator.query('SELECT FROM thread WHERE organization_id = $1 FOR UPDATE', [organization]);
    });
    assert.deepEqual((await step)?.removed, { message: 2, thread: 1 });
  });

  it('on an organization keeps the last step of a purge of a person waiting until it sees who has joined', async () => {
    const { store } = world;
    const organization = await world.organization();
    const email = 'returning@example.org';
    const userId = await world.member(organization, email);
    await store.removeMember(organization, email, false, note());
    const person = { userId, email, mailCounters: { invitations: userId, passwordLinks: userId } };
    await operator.query('BEGIN');
    await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
    const step = store.purgePerson(organization, person);
    await untilWaiting();
    await operator.query(
      "INSERT INTO member (organization_id, user_id, role, service, joined_at) VALUES ($1, $2, 'member', false, 1)",
      [organization, userId],
    );
    await operator.query('COMMIT');
    assert.deepEqual(await step, { removed: {}, done: false, isActive: true });
    assert.equal(await store.findUser(email), userId);
  });

  it('on a person who joins does not deadlock with a purge of the organization', async () => {
    const { store } = world;
    for (const table of ['api_key', 'member']) {
      const organization = await world.organization();
      const [userId, owner] = [await world.member(organization), await world.member(organization)];
      const key = {
        id: strangers.key(),
        name: '',
        userId: owner,
        hash: fakeHash(207),
        hint: '',
        createdBy: userId,
      };
      if (table === 'api_key') assert.equal(await store.createApiKey(organization, key, note()), 'created');
      await operator.query('BEGIN');
      // In the order of `acceptInvitation`.
      await operator.query('SELECT FROM "user" WHERE id = $1 FOR UPDATE', [userId]);
      const step = store.purgeOrganization(organization);
      await untilWaiting();
      await operator.query(`SELECT FROM ${table} WHERE organization_id = $1 FOR NO KEY UPDATE NOWAIT`, [
        organization,
      ]);
      await operator.query('COMMIT');
      assert.ok((await step).removed[table]! > 0);
    }
  });

  it('on a member who creates or rates does not deadlock with a purge of the organization', async () => {
    const { store } = world;
    for (const table of ['api_key', 'member']) {
      const organization = await world.organization();
      const userId = await world.member(organization);
      const hash = fakeHash(208);
      const key = { id: strangers.key(), name: '', userId, hash, hint: '', createdBy: userId };
      if (table === 'api_key') assert.equal(await store.createApiKey(organization, key, note()), 'created');
      await operator.query('BEGIN');
      await operator.query(`SELECT FROM ${table} WHERE organization_id = $1 FOR SHARE`, [organization]);
      const step = store.purgeOrganization(organization);
      await untilWaiting();
      // As a foreign key does.
      await operator.query('SELECT FROM "user" WHERE id = $1 FOR KEY SHARE NOWAIT', [userId]);
      await operator.query('COMMIT');
      assert.equal((await step).removed[table], 1);
    }
  });

  it('on members of an organization whose roles change does not deadlock with its purge', async () => {
    const { store } = world;
    const organization = await world.organization({ apiEnabled: false });
    const members = [await world.member(organization), await world.member(organization)];
    const [low, high] = members.sort() as [UserId, UserId];
    // Now the rows are not in the order of their keys.
    await operator.query('UPDATE member SET role = role WHERE user_id = $1', [low]);
    const lock = 'SELECT FROM member WHERE organization_id = $1 AND user_id = $2 FOR UPDATE NOWAIT';
    await operator.query('BEGIN');
    // In the order of `setMemberRole` and of creates.
    await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
    await operator.query(lock, [organization, low]);
    const step = store.purgeOrganization(organization);
    await untilWaiting();
    await operator.query(lock, [organization, high]);
    await operator.query('COMMIT');
    assert.equal((await step).removed.member, 2);
  });

  it('on a member lets others refer to a person whose passwords are about to change', async () => {
    const { store } = world;
    const organization = await world.organization();
    const userId = await world.member(organization);
    let waiting: Promise<unknown> | undefined;
    await whileLocked('member', organization, async () => {
      const requested = { person: userId, personMax: 1 };
      const link = {
        userId,
        tokenHash: fakeHash(2),
        byOperator: false,
        resets: true,
        keepMs: 1000,
        sealedLink: null,
      };
      waiting = store.createInvitation(organization, { ...link, requested }, note());
      await untilWaiting();
      // As a foreign key does.
      await operator.query('SELECT FROM "user" WHERE id = $1 FOR KEY SHARE NOWAIT', [userId]);
    });
    assert.equal(await waiting, 'created');
  });

  it('on an organization is waited for before the creator of a key is locked', async () => {
    const { store } = world;
    const organization = await world.organization();
    const userId = await world.member(organization);
    const key = { id: strangers.key(), name: '', userId, hash: fakeHash(209), hint: '', createdBy: userId };
    const authority = bySession(userId, fakeHash(3), organization);
    const created = note('key.created', key.id, { authority });
    await operator.query('BEGIN');
    await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
    const creating = store.createApiKey(organization, key, created);
    await untilWaiting();
    await operator.query('SELECT FROM "user" WHERE id = $1 FOR NO KEY UPDATE NOWAIT', [userId]);
    await operator.query('COMMIT');
    assert.equal(await creating, 'unauthorized');
  });

  it('that deadlocks with indexing leaves the other threads due', async () => {
    const { store } = world;
    const organization = await world.organization();
    const userId = await world.member(organization);
    const [indexed, added, kept] = [
      await world.thread(organization, userId),
      await world.thread(organization, userId),
      await world.thread(organization, userId),
    ];
    const due = (await store.takeUnindexed(1000)).filter((each) => each.organizationId === organization);
    const threads = await Promise.all(
      [indexed, added, kept].map(async ({ id }) => {
        const thread = (await store.findThread(organization, id))!;
        const entry = { thread, version: 1, state: 'idle', line: '', terms: ['wool'] } as const;
        return { due: due.find(({ threadId }) => threadId === id)!, entry };
      }),
    );
    await store.indexThreads(threads.slice(0, 1));
    await operator.query('BEGIN');
    await operator.query('DELETE FROM message WHERE thread_id IN ($1, $2)', [indexed.id, added.id]);
    await operator.query('DELETE FROM thread WHERE id = $1', [added.id]);
    const indexing = store.indexThreads(threads);
    await untilWaiting();
    await operator.query('DELETE FROM thread WHERE id = $1', [indexed.id]);
    // Indexing runs again, and waits for the removed threads.
    await untilWaiting();
    await operator.query('COMMIT');
    await indexing;
    const { rows } = await operator.query('SELECT thread_id FROM search_due WHERE organization_id = $1', [
      organization,
    ]);
    assert.deepEqual(rows, [{ thread_id: kept.id }]);
  });

  it('makes a change of a role and creates of admins wait for it without a deadlock', async () => {
    const { store } = world;
    const organization = await world.organization();
    const people = new Accounting(world);
    const members: SessionAuthority[] = [];
    for (let count = 0; count < 3; count += 1) {
      const email = `${strangers.user()}@example.org`;
      members.push(
        await people.enter(organization, await people.add(organization, email, { role: 'admin' })),
      );
    }
    const [first, , third] = members.sort((a, b) => (a.userId < b.userId ? -1 : 1)) as [
      SessionAuthority,
      SessionAuthority,
      SessionAuthority,
    ];
    await operator.query('BEGIN');
    const lock = 'SELECT FROM member WHERE organization_id = $1 AND user_id = $2 FOR UPDATE';
    await operator.query(lock, [organization, third.userId]);
    const changed = store.setMemberRole(organization, third.userId, 'member', note());
    await untilWaiting();
    const creates = [third, first].map((authority) =>
      store.createThread(organization, newThread(authority.userId), authority),
    );
    await untilWaiting(2);
    // Longer than PostgreSQL waits before it looks for deadlocks: it would end the statement that started last.
    await pause(1_200);
    await operator.query('COMMIT');
    assert.equal(await changed, 'changed');
    for (const created of await Promise.all(creates)) assert.equal(granted(created).outcome, 'created');
  });
});
