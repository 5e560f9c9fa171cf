import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import {
  by,
  hashOf,
  newFollowUp,
  newThread,
  note,
  strangers,
  type World,
} from '../../../testing/contract/fixture.ts';
import { poolSettings } from '../../../testing/contract/postgres-database.ts';
import { openPostgresWorld } from '../../../testing/contract/postgres-world.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { ClaimedReply } from '../store.ts';

const day = 20_000;
const leaseMs = 60_000;
const progress = { status: 'in_progress', content: 'So far', steps: [] } as const;
const result = { status: 'completed', content: 'Done', steps: [], sources: null, model: 'm' } as const;

describe('A lock that another session holds on rows of one organization', () => {
  let operator: pg.Client;
  let world: World;
  let untilWaiting: (statements?: number) => Promise<void>;
  let close: () => Promise<void>;
  before(async () => {
    ({ operator, world, untilWaiting, close } = await openPostgresWorld());
  });
  after(() => close?.());

  /** Runs `work` while the operator has locked all rows of the organization in the table. */
  async function whileLocked(table: string, organization: OrganizationId, work: () => Promise<void>) {
    await operator.query('BEGIN');
    const { rowCount } = await operator.query(
      `SELECT FROM ${table} WHERE ${table === 'organization' ? 'id' : 'organization_id'} = $1 FOR UPDATE`,
      [organization],
    );
    assert.ok(rowCount! > 0);
    try {
      await work();
    } finally {
      await operator.query('ROLLBACK');
    }
  }

  /** Whether the call is still waiting. */
  const isPending = (call: Promise<unknown>) =>
    Promise.race([call.then(() => false), new Promise((resolve) => setImmediate(resolve, true))]);

  it('does not delay the requests of other organizations', async () => {
    const [locked, other] = [
      await world.organization({ dailyQuota: 100 }),
      await world.organization({ dailyQuota: 1000 }),
    ];
    await Promise.all([world.use(locked, day), world.use(other, day)]);
    let waiting: ReturnType<World['use']>[] = [];
    await whileLocked('quota_use', locked, async () => {
      waiting = Array.from({ length: 5 }, () => world.use(locked, day));
      await Promise.all(Array.from({ length: 100 }, () => world.use(other, day)));
      waiting.push(world.use(locked, day));
      for (let count = 0; count < 50; count += 1) await world.use(other, day);
      assert.ok(await isPending(Promise.race(waiting)));
    });
    const used = await Promise.all(waiting);
    assert.deepEqual(
      used.map(({ remaining }) => remaining).sort((one, two) => two - one),
      [98, 97, 96, 95, 94, 93],
    );
    assert.equal((await world.use(other, day)).remaining, 1000 - 152);
  });

  it('does not take all connections of a node that has not seen any of its keys', async () => {
    const [locked, other] = [await world.organization({ dailyQuota: 100 }), await world.organization()];
    await Promise.all([world.use(locked, day), world.use(other, day)]);
    const hashes = Array.from({ length: 2 * poolSettings.connectionsMax }, (_, place) => hashOf(place));
    for (const hash of hashes) {
      const key = { id: strangers.key(), name: '', userId: null, hash, hint: '', createdBy: null };
      assert.equal(await world.store.createApiKey(locked, key, note()), 'created');
    }
    const fresh = await world.node();
    let waiting: ReturnType<World['store']['admitKey']>[] = [];
    await whileLocked('quota_use', locked, async () => {
      waiting = hashes.map((hash) => fresh.admitKey(hash, day));
      assert.equal((await world.use(other, day, fresh)).remaining, 8);
      assert.ok(await isPending(Promise.race(waiting)));
    });
    for (const admission of await Promise.all(waiting)) assert.equal(admission?.organizationId, locked);
  });

  it('does not delay the first requests of a day of other organizations', async () => {
    const [locked, other] = [await world.organization(), await world.organization()];
    let waiting: ReturnType<World['use']> | undefined;
    await Promise.all([world.use(locked, day), world.use(other, day)]);
    await whileLocked('organization', locked, async () => {
      waiting = world.use(locked, day + 1);
      assert.equal((await world.use(other, day + 1)).remaining, 9);
      assert.ok(await isPending(waiting));
    });
    assert.equal((await waiting!).remaining, 9);
  });

  it('does not delay the replies of other organizations, and loses no claim', async () => {
    const { store } = world;
    const claimOf = async (organization: OrganizationId): Promise<ClaimedReply> => {
      await world.thread(organization, await world.member(organization));
      return (await store.claimReplies([{ organizationId: organization, limit: 1 }], leaseMs))[0]!;
    };
    const locked = await claimOf(await world.organization());
    const other = await claimOf(await world.organization());
    const leaseEnd = async ({ messageId }: ClaimedReply) =>
      Number(
        (await operator.query('SELECT available_at FROM message WHERE id = $1', [messageId])).rows[0]
          .available_at,
      );
    let waiting: Promise<boolean> | undefined;
    const before = await leaseEnd(other);
    await whileLocked('message', locked.organizationId, async () => {
      waiting = store.recordReplyProgress(locked, progress);
      assert.equal(await store.recordReplyProgress(other, progress), true);
      assert.deepEqual(await store.renewReplies([locked, other], 2 * leaseMs), []);
      assert.ok((await leaseEnd(other)) > before + leaseMs / 2, 'the other lease was renewed');
      const lost = { ...locked, token: locked.token + 1 };
      assert.deepEqual(await store.renewReplies([lost, other], leaseMs), [lost]);
      assert.equal(await store.settleReply(other, result), true);
      assert.ok(await isPending(waiting));
    });
    assert.equal(await waiting, true);
    assert.equal(await store.settleReply(locked, result), true);
  });

  for (const table of ['thread', 'message']) {
    it(`does not delay a sweep, which leaves a reply with a locked ${table} to the next one`, async () => {
      const [locked, other] = [await world.organization(), await world.organization()];
      for (const organization of [locked, other])
        await world.thread(organization, await world.member(organization), { replyDeadlineMs: 1000 });
      world.clock.pass(2000);
      const sweep = async () => (await world.sweep()).map(({ organizationId }) => organizationId);
      await whileLocked(table, locked, async () => assert.deepEqual(await sweep(), [other]));
      assert.deepEqual(await sweep(), [locked]);
    });
  }

  it('does not delay other organizations while many of its replies are stopped', async () => {
    const { store } = world;
    const [locked, other] = [await world.organization(), await world.organization()];
    const [member, stranger] = [await world.member(locked), await world.member(other)];
    const threads = await Promise.all(Array.from({ length: 12 }, () => world.thread(locked, member)));
    let waiting: ReturnType<typeof store.cancelReplies>[] = [];
    await whileLocked('thread', locked, async () => {
      waiting = threads.map(({ id }) => store.cancelReplies(locked, id));
      const { id } = await world.thread(other, stranger);
      assert.equal((await store.cancelReplies(other, id)).length, 1);
      assert.ok(await isPending(Promise.race(waiting)));
    });
    for (const cancelled of await Promise.all(waiting)) assert.equal(cancelled.length, 1);
  });

  it('does not hold up other organizations while many of its threads get a prompt or are published', async () => {
    const { store } = world;
    const [locked, other] = [await world.organization(), await world.organization()];
    const [member, stranger] = [await world.member(locked), await world.member(other)];
    const threads = await Promise.all(Array.from({ length: 24 }, () => world.thread(locked, member)));
    for (const { id } of threads) await store.cancelReplies(locked, id);
    let waiting: Promise<string>[] = [];
    await whileLocked('organization', locked, async () => {
      waiting = threads.map(async ({ id }, place) =>
        place % 2 === 0
          ? (await store.addReply(locked, id, member, newFollowUp())).outcome
          : store.setThreadPublished(locked, id, true, note()),
      );
      const { id } = await world.thread(other, stranger);
      assert.equal((await store.cancelReplies(other, id)).length, 1);
      assert.equal((await store.addReply(other, id, stranger, newFollowUp())).outcome, 'added');
      assert.ok(await isPending(Promise.race(waiting)));
    });
    assert.deepEqual([...new Set(await Promise.all(waiting))], ['added', 'done']);
  });

  it('does not hold up other organizations while many of its members are added or removed', async () => {
    const { store } = world;
    const [locked, other] = [await world.organization(), await world.organization()];
    const stranger = await world.member(other);
    const addresses = (name: string) =>
      Array.from({ length: 12 }, (_, place) => `${name}${place}@example.org`);
    for (const email of addresses('leaving')) await world.member(locked, email);
    const add = (email: string) => world.member(locked, email);
    const remove = (email: string) => store.removeMember(locked, email, false, note());
    for (const [table, change] of [
      ['organization', () => addresses('joining').map(add)],
      ['member', () => addresses('leaving').map(remove)],
    ] as const) {
      let waiting: Promise<unknown>[] = [];
      await whileLocked(table, locked, async () => {
        waiting = change();
        const { id } = await world.thread(other, stranger);
        assert.equal((await store.cancelReplies(other, id)).length, 1);
        assert.ok(await isPending(Promise.race(waiting)));
      });
      await Promise.all(waiting);
    }
    const emails = (await store.listMembers(locked)).map(({ email }) => email);
    assert.deepEqual(emails.sort(), addresses('joining').sort());
  });

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
    await store.deleteThread(organization, id, by(userId), note());
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
        hash: hashOf(207),
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
      const hash = hashOf(208);
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
      const requested = { person: userId, startedAt: 0, personMax: 1 };
      const link = {
        userId,
        tokenHash: hashOf(2),
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
    const members: UserId[] = [];
    for (let count = 0; count < 3; count += 1) members.push(await world.member(organization));
    for (const userId of members) await store.setMemberRole(organization, userId, 'admin', note());
    const [first, , third] = members.sort() as [UserId, UserId, UserId];
    await operator.query('BEGIN');
    const lock = 'SELECT FROM member WHERE organization_id = $1 AND user_id = $2 FOR UPDATE';
    await operator.query(lock, [organization, third]);
    const changed = store.setMemberRole(organization, third, 'member', note());
    await untilWaiting();
    const creates = [third, first].map((userId) => store.createThread(organization, newThread(userId)));
    await untilWaiting(2);
    // Longer than PostgreSQL waits before it looks for deadlocks: it would end the statement that started last.
    await pause(1_200);
    await operator.query('COMMIT');
    assert.equal(await changed, 'changed');
    for (const { outcome } of await Promise.all(creates)) assert.equal(outcome, 'created');
  });
});
