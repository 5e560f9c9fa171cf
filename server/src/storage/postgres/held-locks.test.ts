import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  by,
  fakeHash,
  granted,
  newFollowUp,
  note,
  strangers,
  type World,
} from '../../../testing/contract/fixture.ts';
import { poolSettings } from '../../../testing/contract/postgres-database.ts';
import { openPostgresWorld, type PostgresWorld } from '../../../testing/contract/postgres-world.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { ClaimedReply } from '../port/store.ts';

const day = 20_000;
const leaseMs = 60_000;
const progress = { status: 'in_progress', content: 'So far', steps: [] } as const;
const result = { status: 'completed', content: 'Done', steps: [], sources: null, model: 'm' } as const;

describe('A lock that another session holds on rows of one organization', () => {
  let { operator, world, whileLocked, close } = {} as PostgresWorld;
  before(async () => {
    ({ operator, world, whileLocked, close } = await openPostgresWorld());
  });
  after(() => close?.());

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
    const hashes = Array.from({ length: 2 * poolSettings.connectionsMax }, (_, place) => fakeHash(place));
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
    const claimReply = async (organization: OrganizationId): Promise<ClaimedReply> => {
      await world.thread(organization, await world.member(organization));
      return (await store.claimReplies([{ organizationId: organization, limit: 1 }], leaseMs))[0]!;
    };
    const locked = await claimReply(await world.organization());
    const other = await claimReply(await world.organization());
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
      waiting = threads.map(({ id }) => store.cancelReplies(locked, id, by(member)));
      const { id } = await world.thread(other, stranger);
      assert.equal((await store.cancelReplies(other, id, by(stranger))).length, 1);
      assert.ok(await isPending(Promise.race(waiting)));
    });
    for (const cancelled of await Promise.all(waiting)) assert.equal(cancelled.length, 1);
  });

  it('does not hold up other organizations while many of its threads get a prompt or are published', async () => {
    const { store } = world;
    const [locked, other] = [await world.organization(), await world.organization()];
    const [member, stranger] = [await world.member(locked), await world.member(other)];
    const threads = await Promise.all(Array.from({ length: 24 }, () => world.thread(locked, member)));
    for (const { id } of threads) await store.cancelReplies(locked, id, by(member));
    let waiting: Promise<string>[] = [];
    await whileLocked('organization', locked, async () => {
      waiting = threads.map(async ({ id }, place) =>
        place % 2 === 0
          ? granted(await store.addReply(locked, id, newFollowUp(), by(member))).outcome
          : store.setThreadPublished(locked, id, true, note()),
      );
      const { id } = await world.thread(other, stranger);
      assert.equal((await store.cancelReplies(other, id, by(stranger))).length, 1);
      assert.equal(granted(await store.addReply(other, id, newFollowUp(), by(stranger))).outcome, 'added');
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
        assert.equal((await store.cancelReplies(other, id, by(stranger))).length, 1);
        assert.ok(await isPending(Promise.race(waiting)));
      });
      await Promise.all(waiting);
    }
    const emails = (await store.listMembers(locked)).map(({ email }) => email);
    assert.deepEqual(emails.sort(), addresses('joining').sort());
  });
});
