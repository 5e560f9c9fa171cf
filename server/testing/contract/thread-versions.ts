import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId, ThreadId, UserId } from '../../src/domain/id.ts';
import type { ClaimedReply, Store } from '../../src/storage/port/store.ts';
import {
  by,
  granted,
  newFollowUp,
  newRetry,
  note,
  noteBy,
  operator,
  skein,
  strangers,
  type World,
} from './fixture.ts';

const leaseMs = 1000;
const deadlineMs = 600_000;
const progress = { status: 'in_progress', content: 'half', steps: [{ description: '1' }] } as const;
const result = { content: 'Because.', steps: [], sources: null, model: 'm' };

export function describeThreadVersions(world: () => World): void {
  describe('the version of a thread', () => {
    async function oneThread() {
      const organization = await world().organization();
      const userId = await world().member(organization);
      const { id } = await world().thread(organization, userId);
      return { organization, userId, id };
    }
    async function claimOne(): Promise<ClaimedReply> {
      const [claim] = await world().claim(leaseMs);
      assert.ok(claim, 'one reply waits');
      return claim;
    }
    /** Works for deleted threads, too. */
    async function readVersion(organization: OrganizationId, id: ThreadId): Promise<number> {
      const found = await world().store.getThread(organization, id);
      assert.ok(found);
      return found.version;
    }

    it('grows with every change that a reader can see, on every node', async () => {
      const { store, clock } = world();
      const other = await world().node();
      const { organization, userId, id } = await oneThread();
      let claim = await claimOne();
      const reclaim = async () => {
        claim = await claimOne();
      };
      const ask = async () => {
        assert.equal(
          granted(await store.addReply(organization, id, newFollowUp(), by(userId))).outcome,
          'added',
        );
        await reclaim();
      };
      const failed = note('reply.failed', id, { authority: skein });
      const changes: Record<string, () => Promise<unknown>> = {
        rename: () => store.renameThread(organization, id, 'Another title', by(userId)),
        publish: () => store.setThreadPublished(organization, id, true, note()),
        hide: () => store.setThreadPublished(organization, id, false, note()),
        progress: () => store.recordReplyProgress(claim, progress),
        'more progress': () => store.recordReplyProgress(claim, { ...progress, content: 'more' }),
        'a failed attempt': () => store.releaseReply(claim, { delayMs: 0, failure: '503' }),
        'a released claim': async () => {
          await reclaim();
          await store.releaseReply(claim);
        },
        'an expired lease': async () => {
          await reclaim();
          await store.recordReplyProgress(claim, progress);
          const before = await readVersion(organization, id);
          clock.pass(2 * leaseMs);
          await world().sweep();
          assert.ok((await readVersion(organization, id)) > before);
        },
        end: async () => {
          await reclaim();
          assert.ok(await store.settleReply(claim, { status: 'completed', ...result }));
        },
        'a follow-up': ask,
        'an end with a note': () =>
          store.settleReply(claim, { status: 'failed', ...result, failure: 'no', note: failed }),
        'a retry': () => store.addReply(organization, id, newRetry(), by(userId)),
        stop: () => store.cancelReplies(organization, id, operator),
        'a deadline that passed': async () => {
          await ask();
          const before = await readVersion(organization, id);
          clock.pass(deadlineMs + leaseMs);
          assert.equal((await world().sweep()).length, 1);
          assert.ok((await readVersion(organization, id)) > before);
        },
        'a worker that reports a crash': async () => {
          await ask();
          await store.recordReplyProgress(claim, progress);
          const before = await readVersion(organization, id);
          assert.ok(await store.releaseReply(claim, 'crash'));
          assert.ok((await readVersion(organization, id)) > before);
        },
        deletion: () => store.deleteThread(organization, id, noteBy(userId)),
        restoration: () => store.restoreThread(organization, id, 1000, noteBy(userId)),
      };
      let version = await readVersion(organization, id);
      for (const [name, change] of Object.entries(changes)) {
        await change();
        const next = await readVersion(organization, id);
        assert.ok(next > version, `${name}: ${version} → ${next}`);
        version = next;
        const seen = await other.getThread(organization, id);
        assert.deepEqual(seen, await store.getThread(organization, id), name);
        const seenVersion = await other.threadVersion(organization, id, { userId });
        assert.equal(seenVersion, seen?.thread.deletedAt === null ? version : undefined, name);
      }
      assert.equal(await store.threadVersion(organization, id, { userId }), version);
    });

    it('does not change with anything else', async () => {
      const { store, clock } = world();
      const { organization, userId, id } = await oneThread();
      const other = await world().thread(organization, userId);
      const version = await readVersion(organization, id);
      const unchanged = async (name: string) =>
        assert.equal(await store.threadVersion(organization, id, { userId }), version, name);

      const claim = (await world().claim(leaseMs)).find(({ threadId }) => threadId === id)!;
      await unchanged('a claim');
      clock.pass(10);
      assert.deepEqual(await store.renewReplies([claim], leaseMs), []);
      await unchanged('a renewal');
      const stale = { ...claim, token: claim.token + 1 };
      assert.equal(await store.recordReplyProgress(stale, progress), false);
      assert.equal(await store.settleReply(stale, { status: 'completed', ...result }), false);
      assert.equal(await store.releaseReply(stale, { delayMs: 0, failure: '' }), false);
      await store.releaseReply(stale);
      await unchanged('a claim that does not hold');
      assert.deepEqual(await world().sweep(), []);
      await unchanged('a sweep that finds nothing');
      assert.equal(
        granted(await store.addReply(organization, id, newFollowUp(), by(userId))).outcome,
        'running',
      );
      const bob = await world().member(organization);
      assert.equal(granted(await store.renameThread(organization, id, 'x', by(bob))).outcome, 'refused');
      assert.equal(granted(await store.deleteThread(organization, id, noteBy(bob))).outcome, 'refused');
      assert.equal(await store.setThreadPublished(organization, id, false, note()), 'done');
      assert.equal(await store.restoreThread(organization, id, 1000, noteBy(userId)), 'missing');
      await unchanged('a write that was refused or had nothing to do');
      await store.renameThread(organization, other.id, 'x', by(userId));
      await store.cancelReplies(organization, other.id, operator);
      await unchanged('a change of another thread');
    });

    it('is not below the time of the change, so that a lost version is never used again', async () => {
      const { store, clock } = world();
      const { organization, id } = await oneThread();
      assert.ok((await readVersion(organization, id)) >= clock.ms);
      const claim = await claimOne();
      clock.pass(500);
      await store.recordReplyProgress(claim, progress);
      assert.ok((await readVersion(organization, id)) >= clock.ms);
    });

    it('is returned to readers of the thread only', async () => {
      const { store } = world();
      const { organization, userId, id } = await oneThread();
      const readers: (UserId | null)[] = [userId, await world().member(organization), null];
      const isReturned = () =>
        Promise.all(
          readers.map(async (reader) => {
            const version = await store.threadVersion(organization, id, { userId: reader });
            assert.equal(version, (await store.getThread(organization, id, { userId: reader }))?.version);
            return version !== undefined;
          }),
        );
      assert.deepEqual(await isReturned(), [true, false, false]);
      await store.setThreadPublished(organization, id, true, note());
      assert.deepEqual(await isReturned(), [true, true, true]);
      await store.deleteThread(organization, id, noteBy(userId));
      assert.deepEqual(await isReturned(), [false, false, false]);
      assert.equal(await store.threadVersion(organization, strangers.thread(), { userId }), undefined);
    });

    it('distinguishes all states while many write at once, without a deadlock', async () => {
      const nodes = [world().store, await world().node()] as const;
      const [store] = nodes;
      const { organization, userId, id } = await oneThread();
      const others = await Promise.all([1, 2, 3].map(() => world().thread(organization, userId)));
      const threads = [id, ...others.map((other) => other.id)];
      const writer = by(userId);
      const sweep = { leases: true };
      const shares = [{ organizationId: organization, limit: 10 }];
      const deeds: ((node: Store, thread: ThreadId, round: number) => Promise<unknown>)[] = [
        (node, thread) => node.addReply(organization, thread, newFollowUp(), by(userId)),
        (node, thread) => node.addReply(organization, thread, newRetry(), by(userId)),
        (node, thread) => node.cancelReplies(organization, thread, operator),
        (node, thread, round) => node.renameThread(organization, thread, `Title ${round}`, writer),
        (node, thread, round) => node.setThreadPublished(organization, thread, round % 2 === 0, note()),
        (node) => node.sweepReplies(sweep),
        async (node, thread) => {
          await node.deleteThread(organization, thread, noteBy(userId));
          await node.restoreThread(organization, thread, 60_000, noteBy(userId));
        },
        async (node, _, round) => {
          const claims = await node.claimReplies(shares, round % 3 === 0 ? 0 : leaseMs);
          await Promise.all([
            node.renewReplies(claims, leaseMs),
            ...claims.map((claim) =>
              node.recordReplyProgress(claim, { ...progress, content: `${claim.token}` }),
            ),
          ]);
          await Promise.all(
            claims.map((claim, index) =>
              index % 2 === 0
                ? node.settleReply(claim, {
                    ...{ status: 'failed', ...result, failure: 'no' },
                    note: note('reply.failed', claim.threadId, { authority: skein }),
                  })
                : node.releaseReply(claim, { delayMs: 0, failure: '503' }),
            ),
          );
        },
      ];
      const statesMin = 50;
      const states = new Map<string, string>();
      let writing = true;
      const read = async (node: Store, thread: ThreadId) => {
        while (writing) {
          const found = await node.getThread(organization, thread);
          const { version, ...state } = found!;
          const text = JSON.stringify(state);
          const name = `${thread} ${version}`;
          assert.equal(text, states.get(name) ?? text);
          states.set(name, text);
          await new Promise(setImmediate);
        }
      };
      const reading = threads.map((thread, index) => read(nodes[index % 2]!, thread));
      try {
        await Promise.all(
          Array.from({ length: 64 }, async (_, place) => {
            const deed = deeds[place % deeds.length]!;
            for (let round = 0; round < 10 || (states.size <= statesMin && round < 200); round += 1) {
              const thread = threads[round % 2 === 0 ? 0 : (place + round) % threads.length]!;
              await deed(nodes[(place >> 3) % 2]!, thread, round);
            }
          }),
        );
      } finally {
        writing = false;
        await Promise.allSettled(reading);
      }
      await Promise.all(reading);
      assert.ok(states.size > statesMin, `${states.size} states were seen`);
      assert.ok((await store.getThread(organization, id))!.messages.length > 2, 'follow-ups were added');
    });
  });
}
