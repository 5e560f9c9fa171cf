import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId, UserId } from '../../src/domain/id.ts';
import type { Listing, Store } from '../../src/storage/port/store.ts';
import { by, completed, newFollowUp, newThread, note, noteBy, type World } from './fixture.ts';

const minuteMs = 60_000;

export function describeUnchangedObjects(world: () => World): void {
  describe('unchanged objects', () => {
    async function member(): Promise<{ organization: OrganizationId; userId: UserId }> {
      const organization = await world().organization();
      return { organization, userId: await world().member(organization) };
    }

    it('return the same thread until the thread changes, on any node', async () => {
      const { store } = world();
      const other = await world().node();
      const { organization, userId } = await member();
      const { id } = await world().thread(organization, userId);
      const read = () => store.getThread(organization, id, { userId });
      const first = await read();
      await world().use(organization, 1);
      await world().thread(organization, userId);
      assert.equal(await read(), first);
      await other.renameThread(organization, id, 'Another', by(userId));
      const second = await read();
      assert.equal(second?.thread.title, 'Another');
      assert.equal(await read(), second);
      const [claim] = await world().claim(1000, 1, other);
      await other.settleReply(claim!, completed);
      assert.deepEqual((await read())?.messages.at(-1)?.content, completed.content);
      await other.setThreadPublished(organization, id, true, note());
      assert.equal((await read())?.thread.published, true);
      assert.equal(await store.getThread(await world().organization(), id, { userId }), undefined);
      await other.deleteThread(organization, id, noteBy(userId));
      assert.equal(await read(), undefined);
    });

    it('return the same page until a thread changes in a way that listings show, on any node', async () => {
      const { store } = world();
      const other = await world().node();
      const { organization, userId } = await member();
      const { id } = await world().thread(organization, userId, { accountId: 'a' });
      for (let made = 0; made < 4; made += 1) await world().thread(organization, userId);
      const listings: readonly Listing[] = [
        { userId },
        { userId: null },
        { userId, ownOnly: true },
        { userId, accountId: 'a' },
      ];
      const readPages = (node: Store) =>
        Promise.all(
          listings.map(async (listing) => {
            const first = await node.beginWalk(organization, listing, 2);
            const after = first.rows.at(-1)?.position;
            const walk = after && { start: first.start, after };
            return [first, walk && (await node.continueWalk(organization, listing, 2, walk))];
          }),
        );
      const changes: Record<string, () => Promise<unknown>> = {
        create: () => other.createThread(organization, newThread(userId, { accountId: 'a' }), by(userId)),
        rename: () => other.renameThread(organization, id, 'Another', by(userId)),
        publish: () => other.setThreadPublished(organization, id, true, note()),
        'a reply': async () => {
          for (const claim of await world().claim(1000, 10, other)) await other.settleReply(claim, completed);
        },
        'a follow-up': () => other.addReply(organization, id, newFollowUp(), by(userId)),
        delete: () => other.deleteThread(organization, id, noteBy(userId)),
        restore: () => other.restoreThread(organization, id, 1000, noteBy(userId)),
        hide: () => other.setThreadPublished(organization, id, false, note()),
      };
      for (const [name, change] of Object.entries(changes)) {
        const before = await readPages(store);
        const again = await readPages(store);
        for (const [at, pages] of again.entries()) {
          for (const [page, kept] of pages.entries()) assert.equal(kept, before[at]![page], `before ${name}`);
        }
        await change();
        assert.deepEqual(await readPages(store), await readPages(await world().node()), `after ${name}`);
      }
    });

    it('return the same page after an update that changes nothing', async () => {
      const { store } = world();
      const { organization, userId } = await member();
      const { id } = await world().thread(organization, userId);
      await store.setThreadPublished(organization, id, true, note());
      const page = await store.beginWalk(organization, { userId }, 1);
      assert.equal(await store.beginWalk(organization, { userId }, 1), page);
      assert.equal(await store.setThreadPublished(organization, id, true, note()), 'done');
      assert.equal(await store.restoreThread(organization, id, 1000, noteBy(userId)), 'missing');
      assert.equal(await store.beginWalk(organization, { userId }, 1), page);
    });

    it('start a new walk with a first page that was read minutes ago', async () => {
      const { store, clock } = world();
      const { organization, userId } = await member();
      await world().thread(organization, userId);
      const first = await store.beginWalk(organization, { userId }, 1);
      clock.pass(2 * minuteMs);
      const later = await store.beginWalk(organization, { userId }, 1);
      assert.deepEqual(later.rows, first.rows);
      assert.notEqual(later.start, first.start);
    });
  });
}
