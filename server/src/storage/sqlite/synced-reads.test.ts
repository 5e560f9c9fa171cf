import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { note, World } from '../../../testing/contract/fixture.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { openSqliteStore } from './open.ts';

describe('Reads of the embedded store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-synced-'));
  /** Every sync starts with it, so that a test can hold syncs back. */
  let mayEnd: Promise<void> = Promise.resolve();
  let isSyncing = Promise.withResolvers<void>();
  let world: World;
  let organizationId: OrganizationId;
  let userId: UserId;

  before(async () => {
    const sync = async (journal: { sync(): Promise<void> }) => {
      isSyncing.resolve();
      await mayEnd;
      await journal.sync();
    };
    world = await World.open((clock) =>
      openSqliteStore(join(folder, 'x.db'), clock, undefined, undefined, sync),
    );
    organizationId = await world.organization();
    userId = await world.member(organizationId);
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs `act` while the sync of `write` has started and has not ended. */
  async function duringSync(write: () => Promise<unknown>, act: (end: () => void) => Promise<void>) {
    const ended = Promise.withResolvers<void>();
    mayEnd = ended.promise;
    isSyncing = Promise.withResolvers();
    const written = write();
    await isSyncing.promise;
    try {
      await act(ended.resolve);
    } finally {
      ended.resolve();
      await written;
    }
  }

  it('show a reply as completed only when its result is on the disk', async () => {
    const { store } = world;
    const { id } = await world.thread(organizationId, userId);
    const { id: otherId } = await world.thread(organizationId, userId);
    const claim = (await world.claim(1000)).find(({ threadId }) => threadId === id)!;
    const result = { status: 'completed', content: 'Done.', steps: [], sources: null, model: 'm' } as const;
    const order: string[] = [];
    const settle = () => store.settleReply(claim, result).then(() => order.push('settled'));
    await duringSync(settle, async (end) => {
      const read = store.getThreadHead(organizationId, id).then((head) => order.push(head!.latest.status));
      const listed = store.beginWalk(organizationId, { userId }, 10).then(() => order.push('listed'));
      const other = await store.getThreadHead(organizationId, otherId);
      assert.equal(other?.latest.status, 'in_progress', 'another thread is shown at once');
      await new Promise(setImmediate);
      assert.deepEqual(order, []);
      end();
      await Promise.all([read, listed]);
      assert.equal(order[0], 'settled');
      assert.deepEqual(order.slice(1).sort(), ['completed', 'listed']);
    });
  });

  it('show the settings of an organization only when they are on the disk', async () => {
    const { store } = world;
    const order: string[] = [];
    const change = () =>
      store
        .updateOrganization(
          organizationId,
          { apiEnabled: false },
          note('organization.changed', organizationId),
        )
        .then(() => order.push('changed'));
    await duringSync(change, async (end) => {
      const found = store.findOrganization(organizationId).then(() => order.push('found'));
      await new Promise(setImmediate);
      assert.deepEqual(order, []);
      end();
      await found;
      assert.deepEqual(order, ['changed', 'found']);
    });
  });

  it('do not wait for writes of other organizations', async () => {
    const { store } = world;
    const elsewhere = await world.organization();
    const { id } = await world.thread(organizationId, userId);
    await duringSync(
      () => world.member(elsewhere),
      async () => {
        assert.equal((await store.getThread(organizationId, id))?.thread.id, id);
        assert.equal((await store.listMembers(organizationId)).length, 1);
      },
    );
  });
});
