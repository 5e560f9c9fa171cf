import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ThreadId } from '../../domain/id.ts';
import type { Listing } from '../store.ts';
import { idsOf, note, type World } from './fixture.ts';

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

    it('show a user their own and the published threads, each once, and the service identity the published', async () => {
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

    it('keep to an account, also to the empty one, and tell the size of every listing', async () => {
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
      const listings: Listing[] = [{ userId: ada }, { userId: null }];
      for (const accountId of ['', 'a', '=a', 'none'])
        listings.push({ userId: ada, accountId }, { userId: null, accountId });
      const sizes = [15, 10, 3, 2, 6, 4, 3, 2, 0, 0];
      for (const [index, listing] of listings.entries()) {
        const { size } = await store.beginWalk(organization, listing, 1);
        assert.equal(size, sizes[index], JSON.stringify(listing));
        assert.equal((await world().walk(organization, listing)).length, size, JSON.stringify(listing));
      }
    });

    it('count a deleted or taken back thread out of every listing', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const first = await world().thread(organization, userId, { accountId: 'a' });
      const second = await world().thread(organization, userId, { accountId: 'a' });
      const sizes = async () =>
        Promise.all(
          [{ userId }, { userId: null }, { userId, accountId: 'a' }, { userId: null, accountId: 'a' }].map(
            async (listing) => (await store.beginWalk(organization, listing, 1)).size,
          ),
        );
      await store.setThreadPublished(organization, first.id, true, note());
      await store.setThreadPublished(organization, second.id, true, note());
      assert.deepEqual(await sizes(), [2, 2, 2, 2]);
      await store.setThreadPublished(organization, second.id, false, note());
      await store.deleteThread(organization, first.id, userId, note());
      assert.deepEqual(await sizes(), [1, 0, 1, 0]);
    });

    it('put a renamed thread on top of everything before it, even within one millisecond', async () => {
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made = [];
      for (let index = 0; index < 4; index += 1) made.push((await world().thread(organization, userId)).id);
      for (const id of made) {
        await world().store.renameThread(organization, id, userId, 'Top');
        assert.equal((await world().walk(organization, { userId }))[0], id);
      }
      const newest = (await world().thread(organization, userId)).id;
      assert.equal((await world().walk(organization, { userId }))[0], newest);
    });

    it('put new and renamed threads on top although the clock was set back an hour', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const first = await world().thread(organization, userId);
      const second = await world().thread(organization, userId);
      clock.ms -= 3_600_000;
      const third = await world().thread(organization, userId);
      await store.renameThread(organization, first.id, userId, 'Top');
      const late = await world().thread(organization, userId);
      assert.deepEqual(await world().walk(organization, { userId }), [
        late.id,
        first.id,
        third.id,
        second.id,
      ]);
    });

    it('go on as of their start: created later is not shown, renamed is shown once, deleted is not', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 9; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      const first = await store.beginWalk(organization, { userId }, 3);
      assert.deepEqual(idsOf(first.rows), made.slice(0, 3));

      await world().thread(organization, userId);
      await store.renameThread(organization, made[1]!, userId, 'Shown before');
      await store.renameThread(organization, made[5]!, userId, 'Once');
      clock.ms += 10;
      await store.renameThread(organization, made[5]!, userId, 'Twice');
      await store.renameThread(organization, made[8]!, userId, 'The last');
      await store.deleteThread(organization, made[7]!, userId, note());
      const rest = await world().restOfWalk(organization, { userId }, 3, first);
      assert.deepEqual(rest, [made[3], made[4], made[5], made[6], made[8]]);
    });

    it('follow renames for each walk by its own start', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const made: ThreadId[] = [];
      for (let index = 0; index < 6; index += 1)
        made.unshift((await world().thread(organization, userId)).id);
      const before = await store.beginWalk(organization, { userId }, 1);
      await store.renameThread(organization, made[4]!, userId, 'Moved');
      const between = await store.beginWalk(organization, { userId }, 1);
      await store.renameThread(organization, made[5]!, userId, 'Moved');
      const rest = (walk: typeof before) => world().restOfWalk(organization, { userId }, 2, walk);
      assert.deepEqual(await rest(before), made.slice(1));
      assert.deepEqual(await rest(between), [made[0], made[1], made[2], made[3], made[5]]);
    });

    it('never show a thread that was taken back or deleted meanwhile, wherever it moved', async () => {
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
        for (const id of made.slice(1)) await store.renameThread(organization, id, ada, 'Moved');
        await store.setThreadPublished(organization, made[2]!, false, note());
        const order = idsOf(first.rows);
        const rest = await world().restOfWalk(organization, listing, 1, first);
        assert.equal(order.length, 1);
        assert.ok(!rest.includes(made[2]!));
        assert.equal(new Set(rest).size, rest.length);
        await store.setThreadPublished(organization, made[2]!, true, note());
      }
    });
  });
}
