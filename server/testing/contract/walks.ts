import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ThreadId, UserId } from '../../src/domain/id.ts';
import { limits } from '../../src/domain/limits.ts';
import type { Listing } from '../../src/storage/port/store.ts';
import {
  by,
  granted,
  listIds,
  newFollowUp,
  newRetry,
  note,
  noteBy,
  operator,
  type World,
} from './fixture.ts';

export function describeWalks(world: () => World): void {
  describe('walks', () => {
    it('order threads of one millisecond by id, newest first, over any page size', async () => {
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 10; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      for (const limit of [1, 2, 3, 7, 10, 100])
        assert.deepEqual(await world().walk(organization, { userId }, limit), made);
    });

    it('show a user their own and published threads once each, and the service identity published ones', async () => {
      const { store } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const made = [];
      for (const userId of [ada, bob, ada, bob]) made.push((await world().thread(organization, userId)).id);
      const [adaHidden, bobHidden, adaShown, bobShown] = made as [ThreadId, ThreadId, ThreadId, ThreadId];
      await store.setThreadPublished(organization, adaShown, true, note());
      await store.setThreadPublished(organization, bobShown, true, note());
      for (const limit of [1, 2, 10]) {
        assert.deepEqual(await world().walk(organization, { userId: ada }, limit), [
          bobShown,
          adaShown,
          adaHidden,
        ]);
        assert.deepEqual(await world().walk(organization, { userId: bob }, limit), [
          bobShown,
          adaShown,
          bobHidden,
        ]);
        assert.deepEqual(await world().walk(organization, { userId: null }, limit), [bobShown, adaShown]);
      }
    });

    it("show only a user's own threads, published or not, if asked", async () => {
      const { store } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const made = [];
      for (const userId of [ada, bob, ada, bob, ada])
        made.push((await world().thread(organization, userId, { accountId: 'a' })).id);
      const [hidden, , shown, bobShown, newest] = made;
      await store.setThreadPublished(organization, shown!, true, note());
      await store.setThreadPublished(organization, bobShown!, true, note());
      for (const limit of [1, 2, 10]) {
        for (const account of [{}, { accountId: 'a' }]) {
          const mine = await world().walk(organization, { userId: ada, ownOnly: true, ...account }, limit);
          assert.deepEqual(mine, [newest, shown, hidden]);
        }
      }
      const nobodys = await store.beginWalk(organization, { userId: null, ownOnly: true }, 10);
      assert.deepEqual([nobodys.rows, nobodys.size], [[], 0]);
    });

    it('filter by account, including the empty one, and return the size of every listing', async () => {
      const { store } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      for (const userId of [ada, bob]) {
        for (const accountId of [null, '', 'a', 'a', '=a']) {
          for (const published of [false, true]) {
            const { id } = await world().thread(organization, userId, { accountId });
            if (published) await store.setThreadPublished(organization, id, true, note());
          }
        }
      }
      const mine: Listing = { userId: ada, ownOnly: true };
      const listings: Listing[] = [{ userId: ada }, { userId: null }, mine];
      for (const accountId of ['', 'a', '=a', 'none'])
        listings.push({ userId: ada, accountId }, { userId: null, accountId }, { ...mine, accountId });
      const sizes = [15, 10, 10, 3, 2, 2, 6, 4, 4, 3, 2, 2, 0, 0, 0];
      for (const [index, listing] of listings.entries()) {
        const { size } = await store.beginWalk(organization, listing, 1);
        assert.equal(size, sizes[index], JSON.stringify(listing));
        assert.equal((await world().walk(organization, listing)).length, size, JSON.stringify(listing));
      }
    });

    it('remove deleted and unpublished threads from every size, and add restored ones again', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const first = await world().thread(organization, userId, { accountId: 'a' });
      const second = await world().thread(organization, userId, { accountId: 'a' });
      const sizes = async () =>
        Promise.all(
          [{}, { accountId: 'a' }]
            .flatMap((account): Listing[] => [
              { userId, ...account },
              { userId: null, ...account },
              { userId, ownOnly: true, ...account },
            ])
            .map(async (listing) => {
              const { size } = await store.beginWalk(organization, listing, 1);
              assert.equal((await world().walk(organization, listing)).length, size);
              return size;
            }),
        );
      await store.setThreadPublished(organization, first.id, true, note());
      await store.setThreadPublished(organization, second.id, true, note());
      assert.deepEqual(await sizes(), [2, 2, 2, 2, 2, 2]);
      await store.setThreadPublished(organization, second.id, false, note());
      await store.deleteThread(organization, first.id, noteBy(userId));
      assert.deepEqual(await sizes(), [1, 0, 1, 1, 0, 1]);
      await store.deleteThread(organization, second.id, noteBy(userId));
      assert.deepEqual(await sizes(), [0, 0, 0, 0, 0, 0]);
      assert.equal(await store.restoreThread(organization, second.id, 1000, noteBy(userId)), 'restored');
      assert.deepEqual(await sizes(), [1, 0, 1, 1, 0, 1]);
      assert.equal(await store.restoreThread(organization, first.id, 1000, noteBy(userId)), 'restored');
      assert.deepEqual(await sizes(), [2, 1, 2, 2, 1, 2]);
    });

    it('show a renamed thread first, even within one millisecond', async () => {
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made = [];
      for (let index = 0; index < 4; index += 1) made.push((await world().thread(organization, userId)).id);
      for (const id of made) {
        await world().store.renameThread(organization, id, 'Top', by(userId));
        assert.equal((await world().walk(organization, { userId }))[0], id);
      }
      const newest = (await world().thread(organization, userId)).id;
      assert.equal((await world().walk(organization, { userId }))[0], newest);
    });

    it('show new and renamed threads first although the clock was set back an hour', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const first = await world().thread(organization, userId);
      const second = await world().thread(organization, userId);
      clock.ms -= 3_600_000;
      const third = await world().thread(organization, userId);
      await store.renameThread(organization, first.id, 'Top', by(userId));
      const late = await world().thread(organization, userId);
      assert.deepEqual(await world().walk(organization, { userId }), [
        late.id,
        first.id,
        third.id,
        second.id,
      ]);
    });

    it('show the threads of their start: later ones are missing, renamed ones appear once, deleted ones do not', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 9; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      const first = await store.beginWalk(organization, { userId }, 3);
      assert.deepEqual(listIds(first.rows), made.slice(0, 3));

      await world().thread(organization, userId);
      await store.renameThread(organization, made[1]!, 'Shown before', by(userId));
      await store.renameThread(organization, made[5]!, 'Once', by(userId));
      clock.ms += 10;
      await store.renameThread(organization, made[5]!, 'Twice', by(userId));
      await store.renameThread(organization, made[8]!, 'The last', by(userId));
      await store.deleteThread(organization, made[7]!, noteBy(userId));
      const rest = await world().restOfWalk(organization, { userId }, 3, first);
      assert.deepEqual(rest, [made[3], made[4], made[5], made[6], made[8]]);
    });

    it('include older threads that are published meanwhile and are still ahead, and end although others keep publishing', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 8; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      const publish = (id: ThreadId) => store.setThreadPublished(organization, id, true, note());
      for (const place of [2, 4, 7]) await publish(made[place]!);
      const everyone: Listing = { userId: null };
      const { rows, size, start } = await store.beginWalk(organization, everyone, 1);
      assert.equal(size, 3);
      const shown = listIds(rows);
      assert.deepEqual(shown, [made[2]]);

      let after = rows[0]!.position;
      for (const place of [3, 0, 5, 6, 1]) {
        await publish(made[place]!);
        await publish((await world().thread(organization, userId)).id);
        const page = await store.continueWalk(organization, everyone, 1, { start, after });
        assert.ok(page !== 'expired');
        shown.push(...listIds(page.rows));
        assert.equal(page.more, shown.length < 6);
        after = page.rows.at(-1)!.position;
      }
      assert.deepEqual(shown, made.slice(2));
    });

    it('handle renames by the start of each walk, even if walks are concurrent', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 6; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      const before = await store.beginWalk(organization, { userId }, 1);
      await store.renameThread(organization, made[4]!, 'Moved', by(userId));
      const between = await store.beginWalk(organization, { userId }, 1);
      await store.renameThread(organization, made[5]!, 'Moved', by(userId));
      const rest = (walk: typeof before) => world().restOfWalk(organization, { userId }, 2, walk);
      const expected = [made.slice(1), [made[0], made[1], made[2], made[3], made[5]]];
      assert.deepEqual([await rest(before), await rest(between)], expected);
      assert.deepEqual(await Promise.all([rest(before), rest(between)]), expected);
    });

    it('show each thread once at its position at the start, whatever is prompted, retried, renamed or deleted meanwhile', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const chance = drawFrom(7);
      const owners = new Map<ThreadId, UserId>();
      for (let index = 0; index < 24; index += 1) {
        const owner = chance(3) === 0 ? bob : ada;
        const { id } = await world().thread(organization, owner, { accountId: index % 2 === 0 ? 'a' : null });
        owners.set(id, owner);
        await store.cancelReplies(organization, id, operator);
        if (owner === bob || chance(2) === 0) await store.setThreadPublished(organization, id, true, note());
      }
      const pick = () => [...owners][chance(owners.size)]!;
      let followed = 0;

      async function disturb(deleted: Set<ThreadId>): Promise<void> {
        const [id, owner] = pick();
        const change = chance(8);
        if (change === 0) {
          await world().thread(organization, owner, { accountId: 'a' });
        } else if (change === 1) {
          await store.renameThread(organization, id, 'Moved', by(owner));
        } else if (change === 2) {
          await store.deleteThread(organization, id, noteBy(owner));
          deleted.add(id);
        } else if (change === 3) {
          await store.addReply(organization, id, newRetry(), by(owner));
        } else {
          const { outcome } = granted(await store.addReply(organization, id, newFollowUp(), by(owner)));
          if (outcome === 'added') followed += 1;
        }
        await store.cancelReplies(organization, id, operator);
        clock.ms += chance(2);
      }

      for (const listing of [
        { userId: ada },
        { userId: ada, ownOnly: true },
        { userId: ada, ownOnly: true, accountId: 'a' },
        { userId: bob, accountId: 'a' },
        { userId: null },
      ] satisfies Listing[]) {
        for (const limit of [1, 2, 3]) {
          const atStart = await world().walk(organization, listing, 100);
          assert.ok(atStart.length > limit, JSON.stringify(listing));
          const deleted = new Set<ThreadId>();
          const { rows, more, start } = await store.beginWalk(organization, listing, limit);
          const shown = listIds(rows);
          let page = { rows, more };
          while (page.more) {
            for (let times = chance(4); times > 0; times -= 1) await disturb(deleted);
            // A thread that was shown before its deletion counts as shown.
            const expected = atStart.filter((id) => shown.includes(id) || !deleted.has(id));
            const after = page.rows.at(-1)!.position;
            const next = await store.continueWalk(organization, listing, limit, { start, after });
            assert.ok(next !== 'expired');
            page = next;
            shown.push(...listIds(page.rows));
            assert.deepEqual(shown, expected.slice(0, shown.length), JSON.stringify(listing));
            if (!page.more) assert.deepEqual(shown, expected);
          }
          for (const id of deleted)
            assert.equal(
              await store.restoreThread(organization, id, 60_000, noteBy(owners.get(id)!)),
              'restored',
            );
        }
      }
      assert.ok(followed > 50, `${followed} follow-ups`);
    });

    it('can be continued for a day, and then expire instead of skipping renamed threads', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 4; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      const dayMs = limits.walkMsMax.default;
      clock.pass(3 * dayMs);
      const { rows, start } = await store.beginWalk(organization, { userId }, 1);
      const after = rows[0]!.position;
      const proceed = () => store.continueWalk(organization, { userId }, 10, { start, after });
      clock.pass(1);
      await store.renameThread(organization, made[3]!, 'Moved', by(userId));
      // Each rename is a millisecond after the last, so the store's time is a little ahead of the clock.
      clock.pass(dayMs - 10);
      // These would remove old moves.
      for (let times = 0; times < 3; times += 1)
        await store.renameThread(organization, made[0]!, 'Moved', by(userId));
      const last = await proceed();
      assert.ok(last !== 'expired');
      assert.deepEqual(listIds(last.rows), made.slice(1));
      clock.pass(10);
      assert.equal(await proceed(), 'expired');
      const noTime = start.split('.').slice(0, 2).join('.');
      const walk = { start: noTime, after };
      assert.equal(await store.continueWalk(organization, { userId }, 10, walk), 'expired');
    });

    it('never show a thread that was unpublished or deleted meanwhile, wherever it moved', async () => {
      const { store } = world();
      const organization = await world().organization();
      const [ada, bob] = [await world().member(organization), await world().member(organization)];
      const made: ThreadId[] = [];
      for (let index = 0; index < 4; index += 1) {
        const { id } = await world().thread(organization, ada, { accountId: 'a' });
        await store.setThreadPublished(organization, id, true, note());
        made.unshift(id);
      }
      for (const listing of [
        { userId: bob },
        { userId: null },
        { userId: bob, accountId: 'a' },
      ] satisfies Listing[]) {
        const first = await store.beginWalk(organization, listing, 1);
        for (const id of made.slice(1)) await store.renameThread(organization, id, 'Moved', by(ada));
        await store.setThreadPublished(organization, made[2]!, false, note());
        const order = listIds(first.rows);
        const rest = await world().restOfWalk(organization, listing, 1, first);
        assert.equal(order.length, 1);
        assert.ok(!rest.includes(made[2]!));
        assert.equal(new Set(rest).size, rest.length);
        await store.setThreadPublished(organization, made[2]!, true, note());
      }
    });
  });
}

/** Integers below a bound, the same in every run. */
function drawFrom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * bound);
  };
}
